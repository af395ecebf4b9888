// Package keeper owns an open venue: the database, the importer and the live snapshot. It runs one
// piece of work at a time, no matter who requested it: a command, the inbox or the schedule.
package keeper

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/export"
	"pmx/engine/guard"
	"pmx/engine/ingest"
	"pmx/rollups"
	"pmx/rollups/query"
	"pmx/rollups/serving"
)

// Config says which venue to keep, and how.
type Config struct {
	Engine engine.Options
	Memory engine.Memory // of the process: it is divided between Engine and what Go has live; zero: Engine.MemoryLimit holds
	Feeds  ingest.FeedCatalog
	Log    zerolog.Logger
	Watch  *guard.Watch     // watches background work; nil: one that logs to Log
	Now    func() time.Time // nil: time.Now
	Venue  map[data.Address]bool
	Whale  data.Micro // smallest order in dollars that is a whale move; 0: the database's value
	Lake   string     // folder of the lake that a database without fills was pulled from; "": none
	Serve  bool       // keep snapshots, from which requests are answered
	Later  bool       // with Serve: Open leaves Begin to the caller
	// AwaitStarted says that the caller reads much of the database at the start, and calls Started when it has: only then the
	// first files are written. Both at once would take the memory of both.
	AwaitStarted bool
}

// Keeper is an open venue.
type Keeper struct {
	cfg            Config
	db             *engine.DB
	importer       *ingest.Importer
	live           *rollups.Live // nil if nothing is served
	segments       *segmentSet   // nil if nothing is served
	merger         rollups.Merger
	factsOnly      bool
	pulled         *rollups.Pulled            // where the rollups of a database without fills are from; nil: it has fills
	lake           atomic.Pointer[query.Lake] // where its fills are
	replica        bool                       // serves another server's database: nothing is written to it
	segmentsAdded  func()                     // waits until the last batch is in the segments; nil: there was none
	snapshotBehind bool                       // a rebuild is committed that the snapshot does not show yet
	owedTold       time.Time                  // since when a checkpoint was owed when that was last logged
	writesBehind   atomic.Bool                // files are written at the end of a catch-up, with lower limits
	garbageAt      time.Time                  // when garbage was bounded last; zero: it is not
	releasedAt     time.Time                  // when blocks were last released
	activity       activity                   // at the last look for memory that nobody uses
	division       *engine.Division           // of Config.Memory; nil: DuckDB's limit stays
	deferred       deferral                   // the rebuild that a source needs after catching up
	work           workLock                   // one import, refresh, rebuild or verification at a time

	background sync.WaitGroup  // work in the background
	ctx        context.Context // of background work: Close cancels it
	cancel     context.CancelFunc
	started    chan struct{} // closed by Started
	start      sync.Once

	arrivals arrivals // in the inbox

	noting    sync.Mutex // one change of freshness at a time
	freshness atomic.Pointer[serving.Freshness]
	tallies   tallies
	onPublish atomic.Pointer[func(*serving.Snapshot)]
}

// Open opens the database and, if Config.Serve is set, calls Begin.
func Open(ctx context.Context, cfg Config) (*Keeper, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Watch == nil {
		cfg.Watch = guard.New(cfg.Log)
	}
	k := &Keeper{cfg: cfg, merger: rollups.Merger{Cities: cfg.Feeds.Gazetteer()}, started: make(chan struct{})}
	options := k.engineOptions(1)
	options.OnMigrate = func(at, newest int64) {
		cfg.Log.Info().Int64("from", at).Int64("to", newest).Msg("an older version wrote the tables: they are being changed, which can take minutes")
	}
	db, err := engine.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	k.db = db
	reportLog(cfg.Log, db)
	k.ctx, k.cancel = context.WithCancel(context.WithoutCancel(ctx))
	merge := ingest.Rollups{Merge: k.merger.Merge, Postpone: k.merger.Postpone}
	if cfg.Serve {
		k.live = &rollups.Live{Publish: k.published, Venue: cfg.Venue, Cities: cfg.Feeds.Gazetteer()}
		k.merger.Live, merge.Absorb = k.live, k.absorb
	}
	if err := errors.Join(k.findFills(ctx), k.dropUnfinished(ctx), k.refreshDesk(ctx)); err != nil {
		k.cancel()
		return nil, errors.Join(err, db.Close())
	}
	k.importer = &ingest.Importer{DB: db, Feeds: cfg.Feeds, Now: cfg.Now, Rollups: merge}
	if err := k.SetWhale(ctx, cfg.Whale); err != nil {
		k.cancel()
		return nil, errors.Join(err, db.Close())
	}
	if k.live == nil {
		return k, nil
	}
	k.importer.Directory = k.live
	if k.pulled == nil {
		k.serveSegments(db.Dir().Segments()) // a rebuild uses them
	}
	if cfg.Later {
		return k, nil
	}
	if err := k.Begin(ctx, nil); err != nil {
		k.cancel()
		return nil, errors.Join(err, k.closeSegments(), db.Close())
	}
	return k, nil
}

// Begin loads the first snapshot. If a stopped import left the rollups stale, they are rebuilt before that; without Config.Serve
// they stay so. traders is called once, with one that has only leaderboards of traders and the totals of wallets, if these are read
// before everything else; it may be nil. After an error, the Keeper can only be closed.
func (k *Keeper) Begin(ctx context.Context, traders func(*serving.Snapshot)) error {
	k.live.PublishTraders = traders
	// On a full disk existing data can still be served.
	err := errors.Join(k.refresh(ctx, nil), k.loadFirst(ctx))
	k.live.PublishTraders = nil // whatever is read later, a whole snapshot is there
	if err == nil {
		err = k.db.CheckSpace() // so that the status says so from the first answer on
	}
	err = k.cycleDone(err)
	if err != nil && (!errors.Is(err, engine.ErrDiskFull) || k.Snapshot() == nil) {
		return err
	}
	for k.followHeap(ctx) { // nobody reads the database yet
	}
	k.cfg.Watch.Begin(&k.background, "warm", func() { _ = k.cfg.Watch.Supervise(k.ctx, "warm", k.warm) })
	return nil
}

// engineOptions returns the options of Config, with DuckDB's part of the memory divided among this
// many open databases.
func (k *Keeper) engineOptions(databases int64) engine.Options {
	opts := k.cfg.Engine
	if k.cfg.Memory.Total > 0 {
		k.division = engine.NewDivision(k.cfg.Memory, databases, opts.Threads)
		opts.MemoryLimit = k.division.MemoryLimit()
	}
	opts.OnFault = func(err error, recovered bool) {
		k.tallies.fault(recovered)
		if k.cfg.Engine.OnFault != nil {
			k.cfg.Engine.OnFault(err, recovered)
		}
	}
	return opts
}

// refreshDesk rebuilds the weather desk if its cities or its grammar changed.
func (k *Keeper) refreshDesk(ctx context.Context) error {
	if k.pulled != nil {
		return nil // it is that of the lake
	}
	return k.db.Write(ctx, func(conn *sql.Conn) error {
		changed, err := rollups.RefreshDesk(ctx, conn, k.cfg.Feeds.Gazetteer())
		if changed && err == nil {
			k.cfg.Log.Info().Msg("the weather desk was rebuilt: its cities or its grammar changed")
		}
		return err
	})
}

// warm loads what merging keeps in memory while the first requests are served; an import that comes
// meanwhile waits for it.
func (k *Keeper) warm(ctx context.Context) error {
	quiet := func(err error) bool {
		return err == nil || errors.Is(err, engine.ErrClosed) || errors.Is(err, context.Canceled)
	}
	if err := k.openSegments(ctx); !quiet(err) {
		k.cfg.Log.Error().Err(err).Msg("wallets and markets are read from the database")
	}
	if k.replica || k.pulled != nil {
		return nil // nothing is merged
	}
	if err := k.rewarm(ctx); !quiet(err) {
		k.cfg.Log.Warn().Err(err).Msg("merging continues without its data in memory")
	}
	return nil
}

// FactsOnly makes imports leave every rollup to the next refresh, which the caller has to start:
// for loading many large files one after another.
func (k *Keeper) FactsOnly() {
	k.importer.Rollups.Merge = k.merger.Postpone
	k.factsOnly = true
}

// Close closes the venue once running work is done.
func (k *Keeper) Close() error {
	k.cancel()
	if err := k.work.Lock(context.Background()); err != nil { // never
		return err
	}
	defer k.work.Unlock()
	k.background.Wait()
	k.leaveImage(context.Background())
	return errors.Join(k.closeSegments(), k.db.Close())
}

// Settle waits until background work is done: loading the memory of merging, and writing the files
// below segments/.
func (k *Keeper) Settle() { k.background.Wait() }

// Started says that the caller has read what it needs at the start: see Config.AwaitStarted. It may be called again.
func (k *Keeper) Started() {
	k.start.Do(func() { close(k.started) })
}

// DB is the open database.
func (k *Keeper) DB() *engine.DB { return k.db }

// Exporter writes the contents of the database to files.
func (k *Keeper) Exporter() *export.Exporter {
	return &export.Exporter{DB: k.db, Venue: k.cfg.Venue, NoFills: k.pulled != nil}
}

// Ping checks that the database answers.
func (k *Keeper) Ping(ctx context.Context) error { return k.db.Ping(ctx) }

// reportLog says what was wrong with the database file and the write-ahead log at the start.
func reportLog(log zerolog.Logger, db *engine.DB) {
	if n := db.Restored(); n > 0 {
		log.Warn().Int("blocks", n).Msg("the process was killed while it wrote a checkpoint: the blocks that were half written were restored, and nothing that was committed is missing")
	}
	d := db.LogDamage()
	if d == nil {
		return
	}
	e, text := log.Error(), "the write-ahead log was damaged: commits after the damage are missing, import their files again"
	if d.Torn {
		e, text = log.Warn(), "the write-ahead log ends inside a transaction: the process was killed while it wrote, or the file was truncated since"
	}
	e.Int("transactions_taken_in", d.Transactions).Int64("at_byte", d.At).Int64("bytes_dropped", d.Dropped).Str("kept_as", d.Copy).Msg(text)
}
