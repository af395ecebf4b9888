// Package ingest brings files into the facts: it stages a file's rows, keeps
// what it must reject, gives addresses, tokens and conditions their ids, takes
// out what is already there, and commits facts, deltas and import log in one
// transaction per file.
package ingest

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"pmx/data"
	"pmx/engine"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var statements = engine.MustStatements(sqlFiles)

// Rollups is what an import needs of the derived tables. Both calls run apply
// once, inside the import's transaction; Postpone leaves the rollups stale.
type Rollups struct {
	Merge    func(ctx context.Context, conn *sql.Conn, apply func() error) error
	Postpone func(ctx context.Context, conn *sql.Conn, apply func() error) error
	// Absorb is called after a Merge is committed, on the same connection, while the deltas still
	// lie in temporary tables; nil if nobody follows live.
	Absorb func(ctx context.Context, conn *sql.Conn) error
}

// FeedCatalog is what an import needs to know of source shapes: a feeds.Catalog.
type FeedCatalog interface {
	Head(path string) (data.Head, error)     // compressed files too
	Open(path string) (io.ReadCloser, error) // compression taken off
	Detect(head data.Head) (data.Feed, error)
	ByName(name string) (data.Feed, error)  // as --as names it
	Fits(f data.Feed, head data.Head) error // why a file cannot be of the feed that --as names, nil where it may
	Explain(reason string) string           // the sentence of a reason that a feed rejects rows for, "" where it has none
	Gazetteer() *data.Gazetteer             // the places that feeds of the weather name, never nil
}

// Importer imports files into one database.
type Importer struct {
	DB      *engine.DB
	Rollups Rollups
	Feeds   FeedCatalog
	Now     func() time.Time
	// Directory knows ids in memory, so that a small file needs no scan of all wallets and tokens;
	// nil if there is none.
	Directory Directory
	// BulkRows is the number of fills from which files that also add a quarter to the
	// facts are left to a rebuild, which is then cheaper than merging; 0 = 1M, of rows that
	// are appended a quarter as many.
	BulkRows int64
	// Memory is how many bytes of the markets of a file, and of what a feed must know of
	// all its rows, are held in memory before the rest goes to disk; 0 = 64 MB.
	Memory int

	byStatement bool // markets are merged by MarketsNext, however few: for tests

	lastBatch int64 // one that is in the import log, or 0; under the lock of DB.Write

	empty emptyTables // found at the end of the last import; under the lock of DB.Write

	known knownTransactions // of the facts of the days imported last; under the lock of DB.Write
}

// OnError says what a row that cannot be read does to its file.
type OnError string

// The choices of --on-error.
const (
	RejectRow  OnError = "row"  // keep the row under rejected/ and go on
	RejectFile OnError = "file" // refuse the file whole
)

// Options of one import.
type Options struct {
	OnError   OnError
	DryRun    bool
	Correct   bool           // its payouts are the newest of their source
	Remaining Remaining      // what is still to be imported: see isBulk
	Progress  func(Progress) // may be nil
}

// Remaining is what an import of several files has still to read.
type Remaining struct {
	Files int   // files of fills
	Fills int64 // in them, about
}

// Progress is where an import stands.
type Progress struct {
	File  string  `json:"file"`
	Phase string  `json:"phase"` // "reading", "matching", "merging"
	Done  float64 `json:"done"`  // 0…1 of the phase, negative where unknown
	Rows  int64   `json:"rows"`  // rows read so far, 0 where unknown
}

// ErrFileRefused wraps the reason a whole file was refused; nothing of it was
// imported.
var ErrFileRefused = errors.New("file refused")

// errDryRun rolls a finished dry run back.
var errDryRun = errors.New("dry run")

// Import brings one file in, as Identify planned it, and returns its receipt. Nothing of a file
// that ends in an error stays, and its receipt counts nothing. A file that is not of the planned
// feed any more is refused.
func (im *Importer) Import(ctx context.Context, p Plan, opts Options) (Receipt, error) {
	src, err := im.open(ctx, &p)
	if err != nil {
		return Receipt{}, fmt.Errorf("import %s: %w", p.name(), err)
	}
	defer src.close()
	receipt, err := im.bring(ctx, src, opts)
	if err != nil {
		return receipt, fmt.Errorf("import %s: %w", src.name, err)
	}
	return receipt, nil
}

// batchAtMost is how long a batch of who catches up has one thread of the database, while others
// fetch and decode the next one: far longer than one takes.
const batchAtMost = 30 * time.Second

// bring imports what src has.
func (im *Importer) bring(ctx context.Context, src *source, opts Options) (receipt Receipt, err error) {
	err = im.DB.Write(ctx, func(conn *sql.Conn) error {
		job := &fileImport{im: im, ctx: ctx, conn: conn, src: src, opts: opts, started: im.Now(), helped: func() {}}
		if src.read != nil && opts.Remaining.Fills == 0 { // who ends it waits for one short statement
			job.ctx = engine.Uninterrupted(ctx)
		}
		switch {
		case src.read != nil && opts.Remaining.Fills > 0:
			defer im.DB.AloneBeside(batchAtMost)()
		case src.small():
			job.helped = im.DB.Alone()
			defer job.helped()
		}
		defer job.cleanup()
		if receipt, err = job.run(); err == nil && receipt.mayRelease() {
			job.onlyFills = false // what releases fills has made the tables again
			receipt.after(im.release(ctx, conn, job.started))
		}
		if err == nil && receipt.late && !opts.DryRun {
			job.onlyFills = false
			receipt.afterMove(im.moveLate(ctx, conn, job.started))
		}
		return err
	})
	return receipt, err
}

// fileImport is the import of one file. It lives for one call, whose context it keeps.
type fileImport struct {
	im         *Importer
	ctx        context.Context
	conn       *sql.Conn
	src        *source
	opts       Options
	started    time.Time
	batch      int64
	rejects    *rejects
	receipt    Receipt
	helped     func() // lets the database's helpers work at it, where they were held off
	merged     bool
	cleaned    bool  // DuckDB read a copy without the records it could not read
	kept       int64 // records of that copy
	walked     int64 // usable records of the file that is walked through
	blank      int64 // its blank lines
	release    bool  // the rows are fills that waited for their market
	hasPayouts bool  // the file has payouts
	described  describedRows
	staged     *stagedFills // nil: only the database knows of the staged fills
	came       *stagedFills // staged before equal ones were put together; nil: fills may have got another time
	texts      *textsStaged // nil: they were not staged by texts
	onlyFills  bool         // the feed gave nothing else
	committed  bool
	conditions bool            // fills name conditions
	names      bool            // and users
	changes    marketChanges   // what markets become
	spares     bool            // the file says payouts of several lengths of a market
	spilled    bool            // what the file says of markets did not fit into memory
	remaps     bool            // known tokens get another market or outcome
	fresh      bool            // no staged fill is known
	indexed    bool            // fills have log indexes
	allIndexed bool            // every staged fill has one, and with it a transaction
	contest    bool            // s_contest is there
	lost       bool            // rows lost their log, or facts did
	inBlocks   bool            // rows name their blocks
	apart      bool            // rows that got one time of their block may have said several
	moving     bool            // the rows are facts that get another time
	ousted     bool            // a known fill gives way to another or is gone, or payouts are gone: no delta tells the rollups so
	absorbed   int64           // known fills without a log index that equal one which lost its log
	emptied    map[string]bool // temporary tables that a statement of emptyingStatements made
	made       map[string]bool // temporary tables that another statement made
}

func (j *fileImport) run() (Receipt, error) {
	j.receipt = j.newReceipt(j.src.name)
	for _, m := range j.src.members {
		m.receipt = j.newReceipt(m.name)
	}
	j.rejects = newRejects(j.im.DB.Dir(), j.src.name, j.started)
	defer j.rejects.discard()
	refused := j.receipt // how far the reading came says nothing of the file
	if err := j.stage(); err != nil {
		return refused, err
	}
	if j.receipt.Read > fewRows {
		j.helped()
	}
	err := engine.InTx(j.ctx, j.conn, j.transact)
	if errors.Is(err, errDryRun) {
		j.finish()
		j.receipt.RejectedFile = ""
		return j.receipt, nil
	}
	if err != nil {
		return refused, err
	}
	j.committed = true
	// From here on the batch is committed: nothing may undo it or keep it from
	// those who follow, even if the caller left.
	j.finish()
	j.receipt.warn(j.rejects.publish())
	j.receipt.warn(j.follow())
	return j.receipt, nil
}

func (j *fileImport) newReceipt(name string) Receipt {
	return Receipt{File: name, Feed: j.src.feed.Name, Rule: j.src.feed.Rule, DryRun: j.opts.DryRun, Correct: j.opts.Correct}
}

// follow tells the rollups that the batch is committed.
func (j *fileImport) follow() error {
	if !j.merged || j.im.Rollups.Absorb == nil {
		return nil
	}
	return j.im.Rollups.Absorb(context.WithoutCancel(j.ctx), j.conn)
}

func (j *fileImport) finish() {
	j.receipt.Rejected = j.rejects.counts
	j.receipt.Seconds = time.Since(j.started).Seconds()
	j.finishMembers()
}

// nextBatch is the number that the next import gets: it is read from the log from the last one on
// that was seen there, and from all of it if that is gone.
func (im *Importer) nextBatch(ctx context.Context, conn *sql.Conn) (int64, error) {
	for {
		var next sql.NullInt64
		err := conn.QueryRowContext(ctx, statements.Get("NextBatch", "@from", strconv.FormatInt(im.lastBatch, 10))).Scan(&next)
		if err != nil || next.Valid || im.lastBatch == 0 {
			im.lastBatch = max(next.Int64-1, 0)
			return next.Int64, err
		}
		im.lastBatch = 0
	}
}

// transact is everything that changes the database.
func (j *fileImport) transact() error {
	var err error
	if j.batch, err = j.im.nextBatch(j.ctx, j.conn); err != nil {
		return err
	}
	j.progress("matching", -1, j.receipt.Read)
	if err := j.prepareFills(); err != nil {
		return fmt.Errorf("match fills: %w", err)
	}
	if err := j.prepareMarkets(); err != nil {
		return fmt.Errorf("match markets: %w", err)
	}
	if err := j.prepareWeather(); err != nil {
		return fmt.Errorf("match weather: %w", err)
	}
	bulk, err := j.isBulk()
	if err != nil {
		return err
	}
	j.progress("merging", -1, j.receipt.Read)
	if j.receipt.RejectedFile, err = j.rejects.seal(); err != nil {
		return err
	}
	if err := j.commitFacts(bulk); err != nil {
		return err
	}
	if j.worthLogging() {
		if err := j.recordImport(); err != nil {
			return err
		}
	}
	if j.src.within != nil {
		if err := j.src.within(j.ctx, j.conn); err != nil {
			return err
		}
	}
	if j.opts.DryRun {
		return errDryRun
	}
	return nil
}

// What a merge costs however few its fills are, and what a rebuild does, each as the
// number of fills that a rebuild takes in the same time: 0.25 s, 1 s and 1.5 µs a fill
// were measured. Fewer files than manyFiles are always merged one by one.
const (
	mergeCost   = 160_000
	rebuildCost = 640_000
	manyFiles   = 8
)

// From how many fills on files, and rows that are appended, are left to a rebuild. A caller that
// appends so many has them in batches of a hundred thousand, each of which would be merged; and how
// many are still to come it may know by half.
const (
	bulkRows         = 1_000_000
	bulkRowsFollowed = bulkRows / 4
)

// isBulk reports whether one rebuild is cheaper than merging this batch and, where most of it is
// new, those still to come, which are then taken to be new as well: of very many fills, or of a few
// in each of many files.
func (j *fileImport) isBulk() (bool, error) {
	limit := j.im.BulkRows
	switch {
	case limit != 0:
	case j.src.read != nil:
		limit = bulkRowsFollowed
	default:
		limit = bulkRows
	}
	if j.ousted {
		return true, nil
	}
	fills, files := j.receipt.Inserted, 1
	if fills > 0 && fills*2 >= j.receipt.Read {
		fills += j.opts.Remaining.Fills
		files += j.opts.Remaining.Files
	}
	// What comes first of a venue is merged into nothing, and is rebuilt with the fills.
	before := !j.src.hasFills() && j.opts.Remaining.Fills >= limit
	if fills < limit && files < manyFiles && !before {
		return false, nil
	}
	var facts int64
	err := j.conn.QueryRowContext(j.ctx, statements.Get("FactCount")).Scan(&facts)
	return before && facts == 0 || fills >= limit && fills*4 >= facts || files >= manyFiles && int64(files)*mergeCost >= rebuildCost+facts, err
}

func (j *fileImport) commitFacts(bulk bool) error {
	if j.receipt.nothingNew() && !j.ousted {
		return nil
	}
	merge := j.im.Rollups.Merge
	if bulk {
		merge, j.receipt.RebuildNeeded = j.im.Rollups.Postpone, true
	}
	j.merged = !bulk
	return merge(j.ctx, j.conn, j.apply)
}

// apply adds the prepared batch to dimensions and facts.
func (j *fileImport) apply() error {
	if j.receipt.named > 0 {
		if err := j.exec("NameTokens"); err != nil {
			return err
		}
	}
	batch := strconv.FormatInt(j.batch, 10)
	if err := j.applyMarkets(batch); err != nil {
		return err
	}
	if !j.fresh {
		if err := j.exec("RemoveReplaced"); err != nil {
			return err
		}
	}
	if j.described.blocks > 0 {
		if err := j.execAll("MoveBlocks", "AddBlocks"); err != nil {
			return err
		}
	}
	order, err := j.insertOrder()
	if err != nil {
		return err
	}
	if err := j.exec("AddFills", "@batch", batch, "@member", memberSQL, "@order", order); err != nil {
		return err
	}
	return j.applyWeather()
}

// applyMarkets writes what markets and tokens become.
func (j *fileImport) applyMarkets(batch string) error {
	if j.remaps {
		if err := j.exec("RemapTokens"); err != nil {
			return err
		}
	}
	if j.changes.fresh+j.changes.changed == 0 {
		return nil
	}
	if j.changes.changed > 0 {
		if err := j.exec("RemoveMarkets"); err != nil {
			return err
		}
	}
	if err := j.exec("AddMarkets"); err != nil {
		return err
	}
	return j.exec("LogPayouts", "@batch", batch)
}

// insertOrder is the ORDER BY that facts need: none where the file is in time
// order already.
func (j *fileImport) insertOrder() (string, error) {
	if !j.src.hasFills() {
		return "", nil
	}
	var back int64
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("Unsorted")).Scan(&back); err != nil {
		return "", err
	}
	if back == 0 && j.receipt.Replaced == 0 {
		return "", nil
	}
	return " ORDER BY ts, row", nil
}

func (j *fileImport) exec(name string, replace ...string) error {
	if _, err := j.conn.ExecContext(j.ctx, j.text(name, replace...)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// count is how many rows a table has, or what else may follow FROM.
func (j *fileImport) count(of string) (n int64, err error) {
	err = j.conn.QueryRowContext(j.ctx, "SELECT count(*) FROM "+of).Scan(&n)
	return n, err
}

func (j *fileImport) execAll(names ...string) error {
	for _, name := range names {
		if err := j.exec(name); err != nil {
			return err
		}
	}
	return nil
}

func (j *fileImport) progress(phase string, done float64, rows int64) {
	if j.opts.Progress != nil {
		j.opts.Progress(Progress{File: j.src.nameAt(done), Phase: phase, Done: done, Rows: rows})
	}
}
