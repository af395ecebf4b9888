package rollups

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"

	"pmx/engine/guard"
	"pmx/rollups/serving"
)

// Beside runs f on another connection, which sees what is committed; false if it did not run f.
type Beside func(ctx context.Context, f func(conn *sql.Conn) error) (ran bool, err error)

// LoadBeside is Load, but reads on other connections as well: windows while it reads wallets, and after these tokens, and sections that
// need only wallets or tokens, while it reads markets; nil: there are none.
func (l *Live) LoadBeside(ctx context.Context, conn *sql.Conn, beside Beside) error {
	next := l.successor()
	next.beside = beside
	if err := next.load(ctx, conn); err != nil {
		return err
	}
	next.beside = nil
	l.liveData = next.liveData
	l.current.Store(next.Snapshot())
	return nil
}

// successor returns a Live without data, for the data that replaces that of l. The first one that shows traders is the only one that does.
func (l *Live) successor() *Live {
	next := &Live{Publish: l.Publish, Venue: l.Venue, Cities: l.Cities, quoted: l.quoted, lineage: l.lineage}
	if publish := l.PublishTraders; publish != nil {
		next.PublishTraders = func(s *serving.Snapshot) {
			l.PublishTraders = nil
			publish(s)
		}
	}
	return next
}

// asideSection is a section whose whole load uses nothing of a Live but the wallets.
type asideSection interface {
	section
	needsOnlyWallets()
}

// tokenSection is a section whose whole load uses nothing of a Live but which token is of which market.
type tokenSection interface {
	section
	// followAhead is follow of everything, and reads what publish would. The catalog may be written to meanwhile.
	followAhead(ctx context.Context, conn *sql.Conn, l *Live) error
	// touch notes in the catalog which markets follow read. It is called once no other goroutine uses the catalog.
	touch(l *Live)
}

// aside is what a load reads on other connections. The zero value reads nothing.
type aside struct {
	sections     []section // that need only wallets
	ahead        []tokenSection
	labels       []string                      // of tokens, by id
	sectionsRead func() (read bool, err error) // waits until sections are read
	tokensRead   func() (read bool, err error) // waits until tokens are read
	aheadRead    func() (read bool, err error) // waits until ahead are read
}

// readWallets adds all wallets on conn, and their windows on another connection meanwhile. Then it publishes both.
func (l *Live) readWallets(ctx context.Context, conn *sql.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	windows := l.windowStep(table.baseAndDelta)
	windowsRead := inBackground(func() (bool, error) {
		return l.beside(ctx, func(conn *sql.Conn) error { return take(ctx, conn, []step{windows}) })
	})
	defer func() { cancel(); _, _ = windowsRead() }()
	if err := take(ctx, conn, l.walletSteps(table.baseAndDelta, "LoadNames", true)); err != nil {
		return err
	}
	read, err := windowsRead()
	if err == nil && !read {
		err = take(ctx, conn, []step{windows})
	}
	if err != nil {
		return err
	}
	return l.showTraders()
}

// showTraders calls PublishTraders, if it is set, once wallets and their windows are read.
func (l *Live) showTraders() error {
	if l.PublishTraders == nil {
		return nil
	}
	snap, err := l.begin()
	if err != nil {
		return err
	}
	for p := range serving.Periods {
		snap.Traders[p] = l.traderLeaderboard(p)
	}
	l.PublishTraders(snap)
	return nil
}

// startAside begins to read, in the background while markets are added, the sections that need only wallets, which are all
// there. Beside these, it begins to read tokens, and after them the sections that need only these. end waits until this is done.
func (l *Live) startAside(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	a := &l.aside
	for _, p := range l.sections {
		if _, apart := p.(asideSection); apart {
			a.sections = append(a.sections, p)
		}
		if p, ahead := p.(tokenSection); ahead {
			a.ahead = append(a.ahead, p)
		}
	}
	sections := a.sections
	sectionsRead := inBackground(func() (bool, error) {
		return l.beside(ctx, func(conn *sql.Conn) error { return l.followWhole(ctx, conn, sections) })
	})
	ahead := a.ahead
	tokensRead := inBackground(func() (bool, error) {
		return l.beside(ctx, func(conn *sql.Conn) (err error) {
			a.labels, err = l.readTokens(ctx, conn)
			return err
		})
	})
	aheadRead := inBackground(func() (bool, error) {
		if read, err := tokensRead(); !read || err != nil {
			return false, err
		}
		return l.beside(ctx, func(conn *sql.Conn) error { return l.followAhead(ctx, conn, ahead) })
	})
	a.sectionsRead, a.tokensRead, a.aheadRead = sectionsRead, tokensRead, aheadRead
	return func() {
		cancel()
		defer func() { l.aside = aside{} }() // the last of these
		for _, wait := range []func() (bool, error){sectionsRead, aheadRead, tokensRead} {
			defer func() { _, _ = wait() }()
		}
	}
}

// inBackground begins f and returns a function that waits for what it gives. A panic of f continues there.
func inBackground(f func() (bool, error)) (wait func() (bool, error)) {
	read := false
	done := guard.Start(func() (err error) {
		read, err = f()
		return err
	})
	return sync.OnceValues(func() (bool, error) { err := <-done; return read, guard.Repanic(err) })
}

// tokens waits until all tokens are read, and maps them; false: they are not.
func (a *aside) tokens(l *Live) (read bool, err error) {
	if a.tokensRead == nil {
		return false, nil
	}
	if read, err = a.tokensRead(); read && err == nil {
		l.mapTokens(a.labels)
		a.labels = nil
	}
	return read, err
}

// reads reports whether a section is read aside.
func (a *aside) reads(p section) bool {
	early, ok := p.(tokenSection)
	return slices.Contains(a.sections, p) || ok && slices.Contains(a.ahead, early)
}

// rest waits until the sections are read. If they cannot be read on another connection, it reads them on conn.
func (a *aside) rest(ctx context.Context, conn *sql.Conn, l *Live) error {
	if a.sectionsRead == nil {
		return nil
	}
	read, err := a.sectionsRead()
	if err == nil && !read {
		err = l.followWhole(ctx, conn, a.sections)
	}
	if err != nil {
		return err
	}
	if read, err = a.aheadRead(); err == nil && !read {
		err = l.followAhead(ctx, conn, a.ahead)
	}
	for _, p := range a.ahead {
		p.touch(l)
	}
	return err
}

// followAhead makes sections read everything while the catalog may be written to.
func (l *Live) followAhead(ctx context.Context, conn *sql.Conn, sections []tokenSection) error {
	for _, p := range sections {
		if err := p.followAhead(ctx, conn, l); err != nil {
			return fmt.Errorf("follow: %w", err)
		}
	}
	return nil
}

// followWhole makes sections read everything.
func (l *Live) followWhole(ctx context.Context, conn *sql.Conn, sections []section) error {
	for _, p := range sections {
		if err := p.follow(ctx, conn, l, table.baseAndDelta, true); err != nil {
			return fmt.Errorf("follow: %w", err)
		}
	}
	return nil
}
