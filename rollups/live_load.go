package rollups

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	"pmx/engine/guard"
)

// Beside runs f on another connection, which sees what is committed; false if it did not run f.
type Beside func(ctx context.Context, f func(conn *sql.Conn) error) (ran bool, err error)

// LoadBeside is Load, but reads wallets, and what needs only these, on another connection while it reads markets; nil: there
// is none.
func (l *Live) LoadBeside(ctx context.Context, conn *sql.Conn, beside Beside) error {
	next := &Live{Publish: l.Publish, Venue: l.Venue, Cities: l.Cities, quoted: l.quoted, lineage: l.lineage}
	next.beside = beside
	if err := next.load(ctx, conn); err != nil {
		return err
	}
	next.beside = nil
	l.liveData = next.liveData
	l.current.Store(next.Snapshot())
	return nil
}

// asideSection is a section whose whole load uses nothing of a Live but the wallets.
type asideSection interface {
	section
	needsOnlyWallets()
}

// aside is what a load reads on another connection. The zero value reads nothing.
type aside struct {
	sections     []section
	walletsRead  func() (read bool, err error) // waits until wallets are read
	sectionsRead func() (read bool, err error) // waits until sections are read
}

// startAside begins to add all wallets in the background, while markets are added, and after them the sections that need
// only wallets. end waits until this is done.
func (l *Live) startAside(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	a := &l.aside
	for _, p := range l.sections {
		if _, apart := p.(asideSection); apart {
			a.sections = append(a.sections, p)
		}
	}
	steps, sections := l.walletSteps(table.baseAndDelta, "LoadNames", true), a.sections
	walletsRead := inBackground(func() (bool, error) {
		return l.beside(ctx, func(conn *sql.Conn) error { return take(ctx, conn, steps) })
	})
	sectionsRead := inBackground(func() (bool, error) {
		if read, err := walletsRead(); !read || err != nil {
			return false, err
		}
		return l.beside(ctx, func(conn *sql.Conn) error { return l.followWhole(ctx, conn, sections) })
	})
	a.walletsRead, a.sectionsRead = walletsRead, sectionsRead
	return func() {
		cancel()
		l.aside = aside{}
		defer func() { _, _ = sectionsRead() }()
		_, _ = walletsRead()
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

// wallets waits until all wallets are read; false: they are not.
func (a *aside) wallets() (read bool, err error) {
	if a.walletsRead == nil {
		return false, nil
	}
	return a.walletsRead()
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
	return err
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
