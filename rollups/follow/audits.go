package follow

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/upstream/dataapi"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/pages"
	"pmx/engine/guard"
	"pmx/engine/ingest"
	"pmx/engine/ledger"
	"pmx/engine/statement"
)

//go:embed sql/audits.sql
var auditSQL embed.FS

var auditStatements = statement.MustLoad(auditSQL)

// AuditOptions configure the comparison with the venue's own counts. Venue, Chain and Data are
// required; zero values mean the defaults.
type AuditOptions struct {
	Venue    Venue
	Chain    Audited
	Data     pages.Asker // the data API
	Markets  bool        // set if markets are followed: then overdue tokens and resolutions are looked for
	Log      zerolog.Logger
	Now      func() time.Time
	Sleep    func(context.Context, time.Duration) error
	Every    time.Duration // interval; 15 min
	Events   int           // number of events that are compared, by volume; 50
	Requests int           // maximum per UTC day; 1,500
	Spot     int           // part of them for trades of conditions whose counts agree; 200
}

// Audited is the lane whose facts are compared; *Chain implements it.
type Audited interface {
	Status() ChainStatus
	// Whole returns the period whose blocks are all committed.
	Whole(ctx context.Context) (from, to time.Time, err error)
	// AskAgain imports the blocks around a time again, from a different node for each try, and
	// returns the number of fills that were missing.
	AskAgain(ctx context.Context, at time.Time, try int) (fills int64, err error)
}

// Audits compares the facts with the venue's own counts: a node may omit whole transactions, and a
// response without them looks like any other.
type Audits struct {
	o   AuditOptions
	api *dataapi.Client

	mu     sync.Mutex
	status AuditStatus
	memory auditMemory
	loaded bool
}

// auditsSource is the lane's name in the ledger.
const auditsSource = "audits"

// auditMemory is what the lane stores in the ledger.
type auditMemory struct {
	Status  AuditStatus            `json:"state"`
	Read    map[string]liveVolumes `json:"read,omitempty"` // when the counts were last compared, by event
	Pending *pendingAudit          `json:"pending,omitempty"`
	Wanted  []wantedTx             `json:"wanted,omitempty"`
	Marks   []tokenMark            `json:"marks,omitempty"`
	Day     int64                  `json:"day"` // of the requests below, days since 1970
	Spent   int                    `json:"spent"`
}

// tokenMark says that all tokens below a number were known at a time, unix seconds.
type tokenMark struct {
	At   int64 `json:"at"`
	Next int64 `json:"next"`
}

// NewAudits returns the lane; Run follows.
func NewAudits(o AuditOptions) *Audits {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = guard.Sleep
	}
	o.Every, o.Events, o.Requests, o.Spot = cmp.Or(o.Every, 15*time.Minute), cmp.Or(o.Events, 50), cmp.Or(o.Requests, 1500), cmp.Or(o.Spot, 200)
	a := &Audits{o: o, status: newAuditStatus()}
	a.api = dataapi.New(countedAsker{a})
	return a
}

// Pauses between steps while something is in progress.
const (
	soonAudit  = time.Minute
	mostListed = 100 // maximum number of differences that are listed individually
)

// Run audits at intervals until ctx ends.
func (a *Audits) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		err := a.Look(ctx)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			a.o.Log.Warn().Err(err).Msg("an audit failed")
		}
		rest := a.o.Every
		a.mu.Lock()
		if a.memory.Pending != nil || len(a.memory.Wanted) > 0 || err != nil {
			rest = min(rest, soonAudit)
		}
		a.mu.Unlock()
		if a.o.Sleep(ctx, rest) != nil {
			break
		}
	}
	return ctx.Err()
}

// Look does what is due.
func (a *Audits) Look(ctx context.Context) error {
	if err := a.load(ctx); err != nil {
		return err
	}
	a.set(func(s *AuditStatus) { s.Phase = Fetch })
	var errs []error
	for _, do := range []func(context.Context) error{a.tokens, a.open, a.blocks, a.day, a.mend, a.save} {
		if err := do(ctx); err != nil && !errors.Is(err, errSpent) {
			errs = append(errs, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	err := errors.Join(errs...)
	a.set(func(s *AuditStatus) {
		if s.Phase, s.Error = Idle, ""; err != nil {
			s.Phase, s.Error = BackOff, err.Error()
		}
	})
	return err
}

// load reads the stored memory once.
func (a *Audits) load(ctx context.Context) error {
	if a.loaded {
		return nil
	}
	m, err := readAuditMemory(ctx, a.o.Venue)
	if err != nil {
		return err
	}
	if m.Status.Since.IsZero() {
		m.Status.Since = a.o.Now().UTC()
	}
	if m.Read == nil {
		m.Read = map[string]liveVolumes{}
	}
	a.mu.Lock()
	a.memory, a.status, a.loaded = m, m.Status, true
	a.mu.Unlock()
	return a.save(ctx)
}

// readAuditMemory reads the lane's memory from the ledger.
func readAuditMemory(ctx context.Context, v Venue) (m auditMemory, err error) {
	m.Status = newAuditStatus()
	err = v.Read(ctx, func(conn *sql.Conn) error {
		text, err := ledger.Cursor(ctx, conn, auditsSource)
		if err != nil || text == "" {
			return err
		}
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return fmt.Errorf("the stored state of the audits cannot be read: %w", err)
		}
		return nil
	})
	return m, err
}

// save stores the memory in the ledger.
func (a *Audits) save(ctx context.Context) error {
	a.mu.Lock()
	a.memory.Status = a.status
	a.memory.Status.Waiting = len(a.memory.Wanted)
	text, err := json.Marshal(a.memory)
	a.mu.Unlock()
	if err != nil {
		return err
	}
	_, err = a.o.Venue.Commit(ctx, ingest.Rows{Name: auditsSource, Within: func(ctx context.Context, conn *sql.Conn) error {
		return ledger.SetCursor(ctx, conn, auditsSource, string(text))
	}}, ingest.Remaining{})
	return err
}

func (a *Audits) set(f func(*AuditStatus)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(&a.status)
}

// errSpent is the error of requests to the data API above the day's limit.
var errSpent = errors.New("audits have used up their requests for today")

// countedAsker sends requests within the day's limit.
type countedAsker struct{ *Audits }

// Do sends a request if there are any left.
func (c countedAsker) Do(ctx context.Context, r fetch.Request) (fetch.Answer, error) {
	a := c.Audits
	a.mu.Lock()
	if day := a.o.Now().Unix() / 86_400; a.memory.Day != day {
		a.memory.Day, a.memory.Spent = day, 0
	}
	spent := a.memory.Spent >= a.o.Requests
	if !spent {
		a.memory.Spent++
	}
	a.status.Requests = a.memory.Spent
	a.mu.Unlock()
	if spent {
		return fetch.Answer{}, errSpent
	}
	return a.o.Data.Do(ctx, r)
}

// left is the number of requests that are left today.
func (a *Audits) left() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.memory.Day != a.o.Now().Unix()/86_400 {
		return a.o.Requests
	}
	return a.o.Requests - a.memory.Spent
}

// How long something may be missing before it counts as a difference.
const (
	unmappedAfter = time.Hour
	openAfter     = 24 * time.Hour
	mostExamples  = 10
)

// tokens looks for tokens that have been unmapped for an hour. Tokens are numbered in order of
// appearance, so those below the next number of an hour ago are older.
func (a *Audits) tokens(ctx context.Context) error {
	if !a.o.Markets {
		return nil
	}
	now := a.o.Now()
	a.mu.Lock()
	// Marks in the future were set by a clock that was ahead.
	marks := slices.DeleteFunc(slices.Clone(a.memory.Marks), func(m tokenMark) bool { return m.At > now.Unix() })
	for len(marks) > 1 && marks[1].At <= now.Add(-unmappedAfter).Unix() {
		marks = marks[1:]
	}
	before := int64(0)
	if len(marks) > 0 && marks[0].At <= now.Add(-unmappedAfter).Unix() {
		before = marks[0].Next
	}
	a.mu.Unlock()
	var next int64
	var list []string
	err := a.o.Venue.Read(ctx, func(conn *sql.Conn) (err error) {
		if err = conn.QueryRowContext(ctx, auditStatements.Get("NextToken")).Scan(&next); err != nil {
			return err
		}
		list, err = queryTexts(ctx, conn, auditStatements.Get("UnmappedSince"), before)
		return err
	})
	if err != nil {
		return err
	}
	list = only(list, func(t string) bool { _, kind := positionOf(t); return kind != isCombo })
	a.mu.Lock()
	if len(marks) == 0 || now.Unix()-marks[len(marks)-1].At >= 60 {
		marks = append(marks[:len(marks):len(marks)], tokenMark{now.Unix(), next})
	}
	a.memory.Marks = marks
	a.mu.Unlock()
	a.found("tokens", &a.status.Unmapped, int64(len(list)), list, "tokens of fills are not mapped to their market after an hour")
	return nil
}

// open looks for markets that the chain resolved a day ago and that are open in the catalogue.
func (a *Audits) open(ctx context.Context) error {
	if !a.o.Markets {
		return nil
	}
	var list []data.Hash
	err := a.o.Venue.Read(ctx, func(conn *sql.Conn) (err error) {
		list, err = queryConditions(ctx, conn, auditStatements.Get("ResolvedAndOpen"), a.o.Now().Add(-openAfter).UnixMicro())
		return err
	})
	if err != nil {
		return err
	}
	examples := make([]string, 0, mostExamples)
	for _, c := range list[:min(len(list), mostExamples)] {
		examples = append(examples, c.String())
	}
	a.found("resolutions", &a.status.StillOpen, int64(len(list)), examples, "markets that the chain resolved a day ago are open in the venue's catalogue")
	return nil
}

// mostApart is the number of blocks, ten minutes of them, by which committed blocks may be behind
// the venue before it counts as a difference.
const mostApart = 400

// blocks compares the venue's newest block with the committed ones. If the lane itself knows that
// blocks are missing, that is no difference: its lag shows it.
func (a *Audits) blocks(ctx context.Context) error {
	s, err := a.api.Status(ctx)
	if err != nil {
		var status *fetch.StatusError
		if errors.As(err, &status) && status.Code == 503 { // before the API's first measurement
			a.unknown("no_status")
			return nil
		}
		return err
	}
	own := a.o.Chain.Status()
	a.set(func(st *AuditStatus) {
		st.venueLag = -1
		if s.Lag != nil {
			st.venueLag = *s.Lag
		}
	})
	if s.Synced == nil {
		a.unknown("no_synced_block")
		return nil
	}
	ahead := *s.Synced - own.Committed
	a.set(func(st *AuditStatus) { st.VenueBlock, st.Ahead = *s.Synced, ahead })
	stale := int64(0)
	if own.Committed >= own.Start && ahead > mostApart && own.GapBlocks <= tailBlocks {
		stale = ahead
	}
	a.found("blocks", &a.status.Stale, stale, nil, "the venue has blocks that are not final at any node yet")
	return nil
}

// found records the current result of an audit, and logs when differences begin, grow and end.
func (a *Audits) found(audit string, figure *int64, n int64, examples []string, what string) {
	a.mu.Lock()
	was := *figure
	*figure = n
	a.mu.Unlock()
	switch {
	case n > was:
		a.o.Log.Error().Str("audit", audit).Int64("differences", n).Strs("examples", examples[:min(len(examples), mostExamples)]).Str("what", what).Msg("audit_differs")
	case n == 0 && was > 0:
		a.o.Log.Info().Str("audit", audit).Msg("audit_agrees")
	}
}

// unknown counts an unexpected condition.
func (a *Audits) unknown(what string) {
	a.set(func(s *AuditStatus) { s.Unknown[what]++ })
}
