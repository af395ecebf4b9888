// Package ingest imports files into the facts: it stages a file's rows, stores rejected ones,
// assigns ids to addresses, tokens and conditions, removes known rows, and commits facts, deltas
// and import log in one transaction per file.
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
	"pmx/engine/statement"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var statements = statement.MustLoad(sqlFiles)

// Rollups is the interface of an import to the derived tables. Merge and Postpone both call apply
// once, inside the import's transaction; Postpone leaves the rollups stale.
type Rollups struct {
	Merge    func(ctx context.Context, conn *sql.Conn, apply func() error) error
	Postpone func(ctx context.Context, conn *sql.Conn, apply func() error) error
	// Absorb is called after a Merge is committed, on the same connection, while the deltas are
	// still in temporary tables; nil if there is no snapshot.
	Absorb func(ctx context.Context, conn *sql.Conn) error
}

// FeedCatalog is what an import needs to know about feeds: a feeds.Catalog.
type FeedCatalog interface {
	Head(path string) (data.Head, error)     // compressed files too
	Open(path string) (io.ReadCloser, error) // decompressed
	Detect(head data.Head) (data.Feed, error)
	ByName(name string) (data.Feed, error)  // by its name, as in --as
	Fits(f data.Feed, head data.Head) error // why a file cannot be read as the feed in --as; nil if it can
	Explain(reason string) string           // the explanation of a reject reason of a feed; "" if there is none
	Gazetteer() *data.Gazetteer             // the places that feeds of the weather may name, never nil
}

// Importer imports files into one database.
type Importer struct {
	DB      *engine.DB
	Rollups Rollups
	Feeds   FeedCatalog
	Now     func() time.Time
	// Directory has ids in memory, so that a small file needs no scan of all wallets and tokens;
	// nil if there is none.
	Directory Directory
	// BulkRows is the number of fills from which on files that also add a quarter to the facts are
	// left to a rebuild, which is then cheaper than merging; 0 means 1M, and a quarter of that for
	// appended rows.
	BulkRows int64
	// PlainBytes is the size from which on a CSV file that may be plain (data.Query.Plain) is read in Go; 0 means 8 MB.
	// With a Directory it is 50 MB at least.
	PlainBytes int64
	// Memory is how many bytes of a file's markets, and of what a feed has to remember about all
	// its rows, are kept in memory before the rest goes to disk; 0 means 64 MB.
	Memory int

	byStatement bool // for tests: markets are merged by MarketsNext, however few they are

	lastBatch int64 // a number in the import log, or 0; under the lock of DB.Write

	empty emptyTables // found at the end of the last import; under the lock of DB.Write

	known knownTransactions // of the facts of the days imported last; under the lock of DB.Write
}

// OnError says what happens to a file with invalid rows.
type OnError string

// The choices of --on-error.
const (
	RejectRow  OnError = "row"  // store the row below rejected/ and continue
	RejectFile OnError = "file" // refuse the whole file
)

// Options of one import.
type Options struct {
	OnError   OnError
	DryRun    bool
	Correct   bool           // its payouts become the newest of their source
	Remaining Remaining      // what is still to be imported: see isBulk
	Progress  func(Progress) // may be nil
}

// Remaining is what an import of several files still has to read.
type Remaining struct {
	Files int   // files of fills
	Fills int64 // in them, estimated
}

// Progress is the progress of an import.
type Progress struct {
	File  string  `json:"file"`
	Phase string  `json:"phase"` // "reading", "matching", "merging"
	Done  float64 `json:"done"`  // 0…1 of the phase; negative if unknown
	Rows  int64   `json:"rows"`  // rows read so far; 0 if unknown
}

// ErrFileRefused wraps the reason a whole file was refused; nothing of it was
// imported.
var ErrFileRefused = errors.New("file refused")

// errDryRun rolls back a finished dry run.
var errDryRun = errors.New("dry run")

// Import imports a file as planned by Identify, and returns its receipt. After an error, nothing of
// the file remains, and its receipt is empty. A file that no longer belongs to the planned feed is
// refused.
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

// batchAtMost is how long a batch of a catch-up may have the database on one thread, while other
// goroutines fetch and decode the next one. It is far longer than a batch takes.
const batchAtMost = 30 * time.Second

// bring imports the rows of src.
func (im *Importer) bring(ctx context.Context, src *source, opts Options) (receipt Receipt, err error) {
	err = im.DB.Write(ctx, func(conn *sql.Conn) error {
		receipt, err = im.bringOn(ctx, conn, src, opts, false)
		if errors.Is(err, errStage) {
			receipt, err = im.bringOn(ctx, conn, src, opts, true)
		}
		return err
	})
	return receipt, err
}

// bringOn is bring on the writing connection; staging is set if the fills have to be staged.
func (im *Importer) bringOn(ctx context.Context, conn *sql.Conn, src *source, opts Options, staging bool) (receipt Receipt, err error) {
	job := &fileImport{im: im, staging: staging, ctx: ctx, conn: conn, src: src, opts: opts, started: im.Now(), helped: func() {}}
	if src.read != nil && opts.Remaining.Fills == 0 { // cancelling waits for one short statement
		job.ctx = engine.Uninterrupted(ctx)
	}
	switch {
	case src.read != nil && opts.Remaining.Fills > 0:
		defer im.DB.AloneBeside(batchAtMost)()
	case job.small():
		job.helped = im.DB.Alone()
		defer job.helped()
	}
	defer job.cleanup()
	if receipt, err = job.run(); err == nil && receipt.mayRelease() {
		job.onlyFills = false // releasing fills has created the tables again
		receipt.after(im.release(ctx, conn, job.started))
	}
	if err == nil && receipt.late && !opts.DryRun {
		job.onlyFills = false
		receipt.afterMove(im.moveLate(ctx, conn, job.started))
	}
	return receipt, err
}

// fileImport is the import of a file. It exists for one call, whose context it keeps.
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
	helped     func() // lets the database's helper threads work again, if they were held off
	merged     bool
	cleaned    bool  // DuckDB read a copy without the records it could not read
	kept       int64 // records of that copy
	walked     int64 // usable records of the file that is being read
	blank      int64 // its blank lines
	staging    bool  // the fills have to be staged, even those of a plain file
	release    bool  // the rows are fills that waited for their market
	hasPayouts bool  // the file has payouts
	described  describedRows
	staged     *stagedFills // nil: staged fills are only in the database
	came       *stagedFills // staged before equal ones were merged; nil: times of fills may have changed
	held       heldFills    // the staged fills, as long as they are few
	texts      *textsStaged // nil: fills were not staged by texts
	onlyFills  bool         // the feed gave nothing but fills
	committed  bool
	conditions bool            // fills have conditions
	names      bool            // fills have user names
	changes    marketChanges   // the changes of markets
	spares     bool            // the file has payouts of several lengths for a market
	spilled    bool            // the file's markets did not fit into memory
	remaps     bool            // the market or outcome of known tokens changes
	fresh      bool            // no staged fill is known
	indexed    bool            // fills have log indexes
	allIndexed bool            // every staged fill has one, and with it a transaction
	allHashed  bool            // every staged fill certainly has its transaction
	contest    bool            // s_contest exists
	lost       bool            // rows or facts lost their log
	inBlocks   bool            // rows have their blocks
	apart      bool            // rows with the same time of their block may have had different times
	moving     bool            // the rows are facts whose time changes
	ousted     bool            // a known fill is replaced or removed, or payouts are removed: deltas cannot express that
	absorbed   int64           // known fills without a log index that are equal to one that lost its log
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
	refused := j.receipt // the progress of reading does not say anything about the file
	if !j.staging {
		if t, query, may, err := j.mayAppend(); err != nil || may {
			if err == nil {
				err = j.appendPlain(t, query)
			}
			return j.ended(refused, err)
		}
	}
	if err := j.stage(); err != nil {
		return refused, err
	}
	if j.receipt.Read > fewRows {
		j.helped()
	}
	return j.ended(refused, engine.InTx(j.ctx, j.conn, j.transact))
}

// ended returns the receipt of an import whose transaction ended with err; refused is that of a file that is refused.
func (j *fileImport) ended(refused Receipt, err error) (Receipt, error) {
	if errors.Is(err, errDryRun) {
		j.finish()
		j.receipt.RejectedFile = ""
		return j.receipt, nil
	}
	if err != nil {
		return refused, err
	}
	j.committed = true
	// From here on the batch is committed: nothing may undo it or hide it from the snapshot, even
	// if the caller's context has ended.
	j.finish()
	j.receipt.warn(j.rejects.publish())
	j.receipt.warn(j.follow())
	return j.receipt, nil
}

func (j *fileImport) newReceipt(name string) Receipt {
	return Receipt{File: name, Feed: j.src.feed.Name, Rule: j.src.feed.Rule, DryRun: j.opts.DryRun, Correct: j.opts.Correct}
}

// follow notifies the rollups that the batch is committed.
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

// nextBatch returns the number of the next import. It reads the import log from the last number
// that was seen, or all of it if that number is gone.
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

// transact does everything that changes the database.
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
	return j.endTx()
}

// endTx logs the import.
func (j *fileImport) endTx() error {
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

// The fixed costs of a merge and of a rebuild, each as the number of fills that a rebuild processes
// in the same time; 0.25 s, 1 s and 1.5 µs a fill were measured. Fewer files than manyFiles are
// always merged one by one.
const (
	mergeCost   = 160_000
	rebuildCost = 640_000
	manyFiles   = 8
)

// The numbers of fills from which on files, and appended rows, are left to a rebuild. A caller that
// appends so many does so in batches of a hundred thousand, each of which would be merged, and its
// estimate of the remaining number may be off by half.
const (
	bulkRows         = 1_000_000
	bulkRowsFollowed = bulkRows / 4
)

// isBulk reports whether one rebuild is cheaper than merging this batch and, if most of it is new,
// the remaining ones, which are then assumed to be new as well. This is so for very many fills, or
// for a few in each of many files.
func (j *fileImport) isBulk() (bool, error) {
	if j.ousted {
		return true, nil
	}
	if !j.bulky(j.receipt.Inserted, j.receipt.Read, 0) { // nor with any facts
		return false, nil
	}
	var facts int64
	err := j.conn.QueryRowContext(j.ctx, statements.Get("FactCount")).Scan(&facts)
	return j.bulky(j.receipt.Inserted, j.receipt.Read, facts), err
}

// bulky is isBulk for so many new ones of the fills that were read, if there are so many facts.
func (j *fileImport) bulky(fills, read, facts int64) bool {
	limit := j.im.BulkRows
	switch {
	case limit != 0:
	case j.src.read != nil:
		limit = bulkRowsFollowed
	default:
		limit = bulkRows
	}
	files := 1
	if fills > 0 && fills*2 >= read {
		fills += j.opts.Remaining.Fills
		files += j.opts.Remaining.Files
	}
	// The first batches of a venue without fills are not merged: they are rebuilt with the fills.
	before := !j.src.hasFills() && j.opts.Remaining.Fills >= limit
	return before && facts == 0 || fills >= limit && fills*4 >= facts || files >= manyFiles && int64(files)*mergeCost >= rebuildCost+facts
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

// applyMarkets writes the changes of markets and tokens.
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

func (j *fileImport) exec(name string, replace ...string) error {
	if _, err := j.conn.ExecContext(j.ctx, j.text(name, replace...)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// count returns the number of rows of a table, or of anything else that may follow FROM.
func (j *fileImport) count(of string) (n int64, err error) {
	err = j.conn.QueryRowContext(j.ctx, statements.Get("Count", "@of", of)).Scan(&n)
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
