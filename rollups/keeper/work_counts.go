package keeper

import (
	"maps"
	"sync"
	"time"

	"pmx/engine/ingest"
)

// Kinds of work that a Tally distinguishes.
const (
	workRefresh    = "refresh"
	workRebuild    = "rebuild"
	workCompact    = "compact"
	workCheckpoint = "checkpoint"
	workVerify     = "verify"
)

// Works lists the kinds of work that a Tally distinguishes.
func Works() []string {
	return []string{workRefresh, workRebuild, workCompact, workCheckpoint, workVerify}
}

// FeedTally is what came from one feed since the start.
type FeedTally struct {
	Batches  int64     `json:"batches"`  // files, and batches of a source that is followed
	Rows     int64     `json:"rows"`     // rows that they had
	Inserted int64     `json:"inserted"` // fills added
	Rejected int64     `json:"rejected"` // rows that could not be used
	Last     time.Time `json:"last"`     // when the last batch was committed
}

// WorkTally is how one kind of work ended since the start.
type WorkTally struct {
	OK         int64         `json:"ok"`
	Failed     int64         `json:"failed"`
	LastOK     time.Time     `json:"last_ok"` // zero: never
	LastFailed time.Time     `json:"last_failed"`
	Took       time.Duration `json:"took_ns"` // the last one, successful or not
}

// Tally counts what a keeper did since it was opened.
type Tally struct {
	Feeds       map[string]FeedTally `json:"feeds"`
	Works       map[string]WorkTally `json:"works"`
	FilesFailed int64                `json:"files_failed"` // that were not imported
	Reopened    int64                `json:"reopened"`     // faults of DuckDB after which the database was opened again
	Lost        int64                `json:"lost"`         // faults after which it was not
}

// tallies is a Tally with concurrent writers.
type tallies struct {
	mu sync.Mutex
	Tally
}

// Tally returns a copy of the counts as they are now.
func (k *Keeper) Tally() Tally {
	k.tallies.mu.Lock()
	defer k.tallies.mu.Unlock()
	t := k.tallies.Tally
	t.Feeds, t.Works = maps.Clone(t.Feeds), maps.Clone(t.Works)
	return t
}

// receipt counts a committed batch. One without a feed has no rows of a source: it only stores how far a source
// was read.
func (t *tallies) receipt(r ingest.Receipt, now time.Time) {
	if r.Feed == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Feeds == nil {
		t.Feeds = map[string]FeedTally{}
	}
	f := t.Feeds[r.Feed]
	f.Batches++
	f.Rows += r.Read
	f.Inserted += r.Inserted
	f.Rejected += r.RejectedRows()
	f.Last = now
	t.Feeds[r.Feed] = f
}

// filesFailed counts files that were not imported.
func (t *tallies) filesFailed(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.FilesFailed += int64(n)
}

// fault counts a fault of DuckDB.
func (t *tallies) fault(recovered bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if recovered {
		t.Reopened++
		return
	}
	t.Lost++
}

// ended counts a piece of work that took so long and ended now, and returns err.
func (t *tallies) ended(work string, took time.Duration, now time.Time, err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Works == nil {
		t.Works = map[string]WorkTally{}
	}
	w := t.Works[work]
	w.Took = took
	if err != nil {
		w.Failed, w.LastFailed = w.Failed+1, now
	} else {
		w.OK, w.LastOK = w.OK+1, now
	}
	t.Works[work] = w
	return err
}

// timed does work and counts how it ended.
func (k *Keeper) timed(work string, do func() error) error {
	began := time.Now()
	err := do()
	return k.tallies.ended(work, time.Since(began), k.cfg.Now().UTC(), err)
}

// logImport counts the files that were not imported, and logs the result of each file; a command
// prints it itself.
func (k *Keeper) logImport(req Request, res Result) {
	k.tallies.filesFailed(len(res.Failed))
	if k.live == nil {
		return
	}
	for _, r := range res.Receipts {
		e := k.cfg.Log.Info().Str("file", r.File).Str("feed", r.Feed).Int64("read", r.Read)
		for _, c := range []struct {
			name string
			n    int64
		}{
			{"inserted", r.Inserted}, {"already_there", r.AlreadyThere}, {"identical", r.Identical}, {"waiting", r.Waiting}, {"markets_new", r.MarketsNew},
			{"markets_changed", r.MarketsChanged}, {"resolutions", r.Resolutions}, {"tokens_mapped", r.TokensMapped}, {"conflicts", r.Conflicts}, {"blocks", r.Blocks},
			{"forecasts", r.Forecasts}, {"actuals", r.Actuals}, {"observations", r.Observations}, {"normals", r.Normals},
		} {
			if c.n != 0 {
				e.Int64(c.name, c.n)
			}
		}
		e.Int64("rejected", r.RejectedRows()).Msg("imported")
	}
	if req.inbox {
		return
	}
	for _, f := range res.Failed {
		k.cfg.Log.Error().Str("file", f.File).Str("reason", f.Error).Msg("not imported")
	}
}
