// Package replica follows the backups of another server: it copies what changed, and serves the new state instead of the old
// one. What is served is always one complete backup whose every block was checked.
package replica

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/backup"
	"pmx/engine/control"
	"pmx/engine/guard"
)

const (
	// lookEvery is how often CURRENT is read.
	lookEvery = 200 * time.Millisecond
	// tryEvery is how long after a failure the next try is made.
	tryEvery = time.Second
	// settleTime is how long a backup may be incomplete, or tries may fail, before the status calls it a failure.
	settleTime = time.Minute
	// noteName is the file in the folder of copies that says what is followed.
	noteName = "follows.json"
)

// State is a state of another server's database, and what belongs to it.
type State struct {
	File   string // below the data directory; nobody writes to it
	Venue  map[data.Address]bool
	Cities *data.Gazetteer
	Since  *Since // nil: not known, or the operator's files next to the database differ
}

// Since says what a state shares with the one being served.
type Since struct {
	File      string                    // of the one that is served
	Unchanged func(at, size int64) bool // whether a range of bytes, at an offset after the head, is equal in both files
}

// Server serves states.
type Server interface {
	// Take serves another state from now on; freed is called with the file that nobody reads any more: that of the
	// previous state, or this one if Take fails.
	Take(ctx context.Context, s State, freed func(file string)) error
	// Followed records the progress: current says that the newest state is served, failure why it cannot be.
	Followed(current bool, failure string)
}

// Config says what is followed. All fields but Now are needed.
type Config struct {
	Repo string     // the folder of backups, absolute
	Dir  engine.Dir // the data directory, of this server alone
	Keys *control.DB
	Log  zerolog.Logger
	// Open serves the first state.
	Open func(ctx context.Context, s State) (Server, error)
	// Settings reads the operator's files from the folder of a database.
	Settings func(dir engine.Dir) (map[data.Address]bool, *data.Gazetteer, error)
	Now      func() time.Time // nil: time.Now
}

// Follower follows. Begin must be done before Run, and Run must run for anything to change.
type Follower struct {
	cfg    Config
	log    zerolog.Logger
	clone  *backup.Clone
	server Server // nil before the first state
	served *backup.Copy
	keys   []string // the blocks of the control.db that was taken over last

	mu   sync.Mutex
	read map[string]*backup.Copy // by their database
	at   Status
	said string // the problem that was logged last
}

// Follows is what a data directory follows.
type Follows struct {
	Dir    string `json:"dir"`    // the folder of backups
	Writer string `json:"writer"` // who makes them; "": not known
}

// Of reports whether a data directory is of a server that follows another's backups.
func Of(dir engine.Dir) (Follows, bool) {
	var f Follows
	text, err := data.ReadRegular(filepath.Join(dir.Replica(), noteName))
	return f, err == nil && json.Unmarshal(text, &f) == nil
}

// String says in words that the data directory follows, and what.
func (f Follows) String() string {
	return fmt.Sprintf("this data directory follows the backups in %s, which %s writes", f.Dir, cmp.Or(f.Writer, "another server"))
}

// Refuse is the error for work that has to be done on the server that makes the backups.
func (f Follows) Refuse(what string) error {
	return fmt.Errorf("%s is refused: %s; do it there", what, f)
}

// New claims the data directory, and serves nothing yet.
func New(cfg Config) (*Follower, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if _, err := os.Stat(cfg.Dir.Database()); err == nil {
		return nil, fmt.Errorf("%s has its own database: a server that follows another needs a separate data directory: choose another --data-dir", cfg.Dir)
	}
	clone, err := backup.OpenClone(cfg.Dir.Replica())
	if err != nil {
		return nil, err
	}
	f := &Follower{cfg: cfg, log: cfg.Log, clone: clone, read: map[string]*backup.Copy{}, at: Status{Dir: cfg.Repo}}
	if err := f.claim(); err != nil {
		return nil, errors.Join(err, clone.Close())
	}
	return f, nil
}

// claim records what is followed before any of it is copied: a command that comes while the first backup is being
// waited for finds the directory claimed.
func (f *Follower) claim() error {
	was, _ := Of(f.cfg.Dir)
	if was.Dir != f.cfg.Repo {
		was = Follows{Dir: f.cfg.Repo}
	}
	return f.note(was)
}

// Begin serves the newest backup, and waits for one if there is none. If the newest cannot be copied, the one that was
// copied before is served.
func (f *Follower) Begin(ctx context.Context) error {
	for {
		began := f.cfg.Now()
		at, err := f.first(ctx)
		if err == nil {
			f.served = at
			f.noted(at, began)
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !passes(err) {
			return err
		}
		f.fails(fmt.Errorf("there is nothing to serve yet: %w", err))
		if err := guard.Sleep(ctx, tryEvery); err != nil {
			return err
		}
	}
}

// passes reports whether an error may be gone at the next try without any action here.
func passes(err error) bool {
	return errors.Is(err, backup.ErrNone) || errors.Is(err, backup.ErrIncomplete) || errors.Is(err, backup.ErrDamaged) || errors.Is(err, backup.ErrNoRepository) ||
		errors.Is(err, fs.ErrNotExist)
}

// first returns the newest backup, or else the newest copy.
func (f *Follower) first(ctx context.Context) (*backup.Copy, error) {
	at, newest := f.newest(ctx)
	if newest != nil {
		var err error
		if at, err = f.clone.Newest(ctx); at == nil || err != nil {
			return nil, errors.Join(newest, err)
		}
		f.fails(newest)
	}
	if err := f.open(ctx, at); err != nil {
		f.clone.Release(at)
		return nil, err
	}
	return at, nil
}

// newest copies the newest backup.
func (f *Follower) newest(ctx context.Context) (*backup.Copy, error) {
	repo, name, err := f.look()
	if err != nil {
		return nil, err
	}
	return f.clone.Fetch(ctx, repo, name)
}

// look finds the newest backup.
func (f *Follower) look() (*backup.Repo, string, error) {
	repo, err := backup.Follow(f.cfg.Repo)
	if err != nil {
		return nil, "", err
	}
	name, err := repo.Current()
	return repo, name, err
}

func (f *Follower) open(ctx context.Context, at *backup.Copy) error {
	if err := f.takeKeys(ctx, at); err != nil {
		return err
	}
	s, err := f.state(at)
	if err != nil {
		return err
	}
	f.hold(at)
	f.server, err = f.cfg.Open(ctx, s)
	return err
}

// state is the State of a copy.
func (f *Follower) state(at *backup.Copy) (State, error) {
	venue, cities, err := f.cfg.Settings(engine.Dir(at.Dir))
	return State{File: engine.Dir(at.Dir).Database(), Venue: venue, Cities: cities}, err
}

// takeKeys takes over the keys of a backup.
func (f *Follower) takeKeys(ctx context.Context, at *backup.Copy) error {
	file, has := at.Manifest.File(filepath.Base(f.cfg.Dir.Control()))
	if f.keys != nil && slices.Equal(f.keys, file.Blocks) {
		return nil
	}
	path := ""
	if has {
		// Opening may change it, so a copy is opened: the file itself stays as in the backup.
		dir, err := os.MkdirTemp(f.cfg.Dir.Tmp(), "keys-*")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		text, err := data.ReadRegular(filepath.Join(at.Dir, file.Name))
		if err != nil {
			return err
		}
		path = filepath.Join(dir, file.Name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	if err := f.cfg.Keys.TakeKeys(ctx, path); err != nil {
		return err
	}
	f.keys = append([]string{}, file.Blocks...)
	return nil
}

// hold notes that a copy is being read.
func (f *Follower) hold(at *backup.Copy) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read[engine.Dir(at.Dir).Database()] = at
}

// freed lets a copy be reused.
func (f *Follower) freed(file string) {
	f.mu.Lock()
	at := f.read[file]
	delete(f.read, file)
	f.mu.Unlock()
	if at != nil {
		f.clone.Release(at)
	}
}

// Close ends the following. The server must be closed by then.
func (f *Follower) Close() error { return f.clone.Close() }

// Run follows until ctx ends.
func (f *Follower) Run(ctx context.Context) error {
	for {
		wait := lookEvery
		if err := f.follow(ctx); err != nil && ctx.Err() == nil {
			f.fails(err)
			wait = tryEvery
		}
		if guard.Sleep(ctx, wait) != nil {
			return nil
		}
	}
}

// follow serves the newest backup, unless it is being served already.
func (f *Follower) follow(ctx context.Context) error {
	repo, name, err := f.look()
	if err != nil {
		return err
	}
	f.seen(name)
	if name == f.served.Name {
		f.current()
		return nil
	}
	began := f.cfg.Now()
	if err := f.take(ctx, repo, name); err != nil {
		return err
	}
	f.noted(f.served, began)
	f.log.Info().Int64("number", backup.Number(name)).Time("as_of", f.served.Manifest.AsOf).Float64("behind_seconds", f.cfg.Now().Sub(f.served.Manifest.At).Seconds()).
		Float64("seconds", f.cfg.Now().Sub(began).Seconds()).Msg("backup_taken")
	return nil
}

// take serves a backup.
func (f *Follower) take(ctx context.Context, repo *backup.Repo, name string) error {
	at, err := f.clone.Fetch(ctx, repo, name)
	if err != nil {
		return err
	}
	// Before anything that may take long or fail: a key that was revoked must not wait for it.
	err = f.takeKeys(ctx, at)
	var s State
	if err == nil {
		s, err = f.state(at)
	}
	if err != nil {
		f.clone.Release(at)
		return err
	}
	s.Since = since(f.served, at)
	f.hold(at)
	if err := f.server.Take(ctx, s, f.freed); err != nil {
		return fmt.Errorf("backup %d is not served: %w", backup.Number(name), err)
	}
	f.served = at
	return nil
}

// since says what a copy shares with the one being served.
func since(served, at *backup.Copy) *Since {
	name := filepath.Base(engine.Dir("").Database())
	for _, pair := range [][2]*backup.Manifest{{served.Manifest, at.Manifest}, {at.Manifest, served.Manifest}} {
		for _, f := range pair[0].Files {
			if f.Name == name || f.Name == filepath.Base(engine.Dir("").Control()) {
				continue
			}
			if other, has := pair[1].File(f.Name); !has || !slices.Equal(f.Blocks, other.Blocks) {
				return nil
			}
		}
	}
	was, hasWas := served.Manifest.File(name)
	now, has := at.Manifest.File(name)
	if !hasWas || !has || was.Head != engine.FileHead || now.Head != engine.FileHead {
		return nil
	}
	return &Since{File: engine.Dir(served.Dir).Database(), Unchanged: func(at, size int64) bool {
		// The blocks of the backup begin after the head.
		first, end := 1+at/backup.BlockSize, 1+(at+size+backup.BlockSize-1)/backup.BlockSize
		return at >= 0 && end <= int64(min(len(was.Blocks), len(now.Blocks))) && slices.Equal(was.Blocks[first:end], now.Blocks[first:end])
	}}
}
