package follow_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/rpc"
	"pmx/engine/ingest"
	"pmx/http/replay"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
)

// audited is a simulated venue whose chain is followed through two nodes, one of which omits whole
// transactions, and which is compared with the venue's own counts.
type audited struct {
	*playedDay
	k     *keeper.Keeper
	o     follow.ChainOptions
	chain *follow.Chain // that followed last
}

func newAudited(t *testing.T) *audited {
	t.Helper()
	played := chainOf(t).venue
	start := time.Date(2026, 11, 5, 0, 20, 0, 0, time.UTC) // the venue lasts from 30 October to 7 November
	d := &playedDay{t: t, venue: played, clock: &clock{now: start, was: time.Now(), by: 1}}
	var err error
	d.server, err = replay.New(t.Context(), replay.Options{Venue: played, Start: start, Speed: 1, Now: d.time, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(d.server.Handler())
	t.Cleanup(func() { d.server.Close(); web.Close() })
	d.url = web.URL
	a := &audited{playedDay: d, k: factsOnly(t, unserved)}
	a.o = follow.ChainOptions{Venue: a.k, Contracts: chain.Contracts(), FromBlock: sample.BlockAt(start.Add(-25 * time.Hour)), Log: zerolog.Nop(), Now: d.time, Sleep: d.sleep,
		Every: 20 * time.Millisecond, AuditOf: -1}
	for _, name := range []string{"bad", "good"} {
		a.o.Nodes = append(a.o.Nodes, follow.NewNode(rpc.New(a.newHost("rpc "+name, "/rpc/"+name))))
	}
	return a
}

// column returns the texts of a column.
func column(t *testing.T, k *keeper.Keeper, query string) (out []string) {
	t.Helper()
	err := k.Read(t.Context(), func(conn *sql.Conn) error {
		out = nil
		rows, err := conn.QueryContext(t.Context(), query)
		if err != nil {
			return err
		}
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				return err
			}
			out = append(out, s)
		}
		return errors.Join(rows.Err(), rows.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Status is the chain's.
func (a *audited) Status() follow.ChainStatus { return a.chain.Status() }

// Whole is the chain's.
func (a *audited) Whole(ctx context.Context) (from, to time.Time, err error) {
	return a.chain.Whole(ctx)
}

// AskAgain is the chain's.
func (a *audited) AskAgain(ctx context.Context, at time.Time, try int) (int64, error) {
	return a.chain.AskAgain(ctx, at, try)
}

func (a *audited) newHost(name, path string) *fetch.Host {
	h := a.host(name, path)
	a.t.Cleanup(h.Close)
	return h
}

// describe imports the venue's markets.
func (a *audited) describe() {
	a.t.Helper()
	files := a.t.TempDir()
	if _, err := sample.Write(a.t.Context(), a.venue.Config(), files, nil); err != nil {
		a.t.Fatal(err)
	}
	if res, err := a.k.Import(a.t.Context(), keeper.Request{Paths: []string{filepath.Join(files, "events.ndjson")}}, nil); err != nil || len(res.Failed) > 0 {
		a.t.Fatalf("err = %v, res = %+v", err, res)
	}
}

// audits returns the audits of the venue. If spot is below 0, only counts are compared.
func (a *audited) audits(spot int) *follow.Audits {
	return follow.NewAudits(follow.AuditOptions{Venue: a.k, Chain: a, Data: a.newHost("data", "/data"), Markets: true, Log: zerolog.Nop(), Now: a.time, Sleep: a.sleep,
		Events: 1000, Requests: 10_000, Spot: spot})
}

// until follows the chain until the clock is at a time and all final blocks are committed.
func (a *audited) until(at time.Time) {
	a.t.Helper()
	a.advance(max(0, at.Sub(a.time())))
	ctx, cancel := context.WithTimeout(a.t.Context(), 2*time.Minute)
	defer cancel()
	alone := a.o
	alone.Nodes = alone.Nodes[:1]
	for _, o := range []follow.ChainOptions{alone, a.o} { // everything comes from the first node, then both are available
		a.chain = lane(a.t, o)
		if err := a.chain.Once(ctx); err != nil {
			a.t.Fatalf("err = %v, a.chain.Status() = %+v", err, a.chain.Status())
		}
	}
}

// look compares a day: its counts are read, and compared when the chain is committed up to then.
func (a *audited) look(audits *follow.Audits) follow.AuditStatus {
	a.t.Helper()
	day := a.time().UTC().Truncate(24 * time.Hour)
	for range 5 {
		if err := audits.Look(a.t.Context()); err != nil {
			a.t.Fatal(err)
		}
		if s := audits.Status(); s.Until.Equal(day) && s.Waiting == 0 {
			break
		}
		a.until(a.time().Add(2 * time.Minute))
	}
	return audits.Status()
}

// fills returns how many fills of a day there are, and how many there should be.
func (a *audited) fills(day time.Time) (got, want int) {
	a.t.Helper()
	end := day.Add(24 * time.Hour)
	if _, err := fmt.Sscan(column(a.t, a.k, fmt.Sprintf("SELECT count(*)::VARCHAR FROM fills WHERE ts >= %d AND ts < %d", day.UnixMicro(), end.UnixMicro()))[0], &got); err != nil {
		a.t.Fatal(err)
	}
	var rows []sample.Row
	for i := range a.venue.Matches {
		if m := &a.venue.Matches[i]; m.At >= day.Unix() && m.At < end.Unix() {
			rows = a.venue.AppendRows(rows[:0], m)
			want += len(rows)
		}
	}
	return got, want
}

// TestTheDailyAuditRepairsWhatANodeLeftOut: whole transactions that a node omits from ranges that
// look normal otherwise are found by the venue's own counts and trades, and requested from the
// other node; after a restart by the counts alone.
func TestTheDailyAuditRepairsWhatANodeLeftOut(t *testing.T) {
	a := newAudited(t)
	a.describe()
	lose := replay.Faults{Names: []string{"lost-transactions:5"}, Rate: 1} // of 49 on the first day: none with a probability of 0.00002
	if err := a.server.SetFaults("rpc/bad", lose); err != nil {
		t.Fatal(err)
	}
	first := time.Date(2026, 11, 4, 0, 0, 0, 0, time.UTC)
	a.until(first.Add(24*time.Hour + 20*time.Minute))
	if got, want := a.fills(first); got == 0 || got >= want {
		t.Fatalf("%d of %d fills are in: nothing was left out", got, want)
	}
	audits := a.audits(1_000_000)
	s := a.look(audits)
	if got, want := a.fills(first); got != want {
		t.Errorf("the first day: %d of %d fills are in", got, want)
	}
	if s.Last == nil || s.Last.VenueOnly == 0 || s.Last.OursOnly != 0 || s.Mended != s.Last.VenueOnly || s.Waiting != 0 || s.Lost != 0 || len(s.Unknown) > 0 ||
		!s.Until.Equal(first.Add(24*time.Hour)) || s.Last.Scanned != s.Last.Conditions {
		s.List = nil
		t.Errorf("the first day: %+v %+v", s, s.Last)
	}
	if asked := a.server.Drawn()["rpc/bad lost-transactions"]; asked == 0 {
		t.Error("nothing was drawn")
	}

	if !testfiles.Long() {
		return
	}
	// A day later, with a new lane: the counts are stored.
	a.until(first.Add(48*time.Hour + 20*time.Minute))
	before := s
	audits = a.audits(-1)
	s = a.look(audits)
	if s.Last == nil || s.Last.Differ == 0 || s.Last.Scanned != s.Last.Differ || s.Last.VenueOnly == 0 || s.Last.Unexplained != 0 ||
		s.Mended != before.Mended+s.Last.VenueOnly || s.Waiting != 0 || !s.Since.Equal(before.Since) {
		t.Errorf("the second day: %+v %+v", s, s.Last)
	}
	if tells := s.Tell(); len(tells.Differences) != 5 || tells.Differences["trades"] != 0 || tells.Problem != "" || !tells.AsOf.Equal(s.Until) {
		t.Errorf("tells = %+v", tells)
	}

	// Counts that the venue's own trades do not confirm are reported, and give no fills.
	if err := a.server.SetFaults("rpc/bad", replay.Faults{}); err != nil {
		t.Fatal(err)
	}
	if err := a.server.SetFaults("data", replay.Faults{Names: []string{"volume-more"}, Rate: 1}); err != nil {
		t.Fatal(err)
	}
	a.until(first.Add(72*time.Hour + 20*time.Minute))
	s = a.look(audits)
	if s.Last.Unexplained == 0 || s.Last.Unexplained > s.Last.Differ || s.Waiting != 0 || !strings.Contains(strings.Join(s.Problems(), ""), "different volumes") {
		t.Errorf("the third day: %+v %+v", s, s.Last)
	}
	stored, err := follow.StoredAudits(t.Context(), a.k)
	if err != nil || stored == nil || stored.Phase != follow.Stopped || !stored.Until.Equal(s.Until) || stored.Mended != s.Mended || stored.Last.Differ != s.Last.Differ {
		t.Errorf("err = %v, stored = %+v", err, stored)
	}
}

// TestTransactionsThatNoNodeHasAreRetriedAndReported: dust, which the venue's list omits, does not count as a
// difference; transactions that every node omits are requested again, even after a restart.
func TestTransactionsThatNoNodeHasAreRetriedAndReported(t *testing.T) {
	testfiles.InLong(t, "TestTheDailyAuditRepairsWhatANodeLeftOut requests what is missing again")
	a := newAudited(t)
	a.describe()
	if err := a.server.SetFaults("rpc", replay.Faults{Names: []string{"lost-transactions:5"}, Rate: 1}); err != nil {
		t.Fatal(err)
	}
	if err := a.server.SetFaults("data", replay.Faults{Names: []string{"dust-missing:1000"}, Rate: 1}); err != nil { // ten tokens
		t.Fatal(err)
	}
	first := time.Date(2026, 11, 4, 0, 0, 0, 0, time.UTC)
	a.until(first.Add(24*time.Hour + 20*time.Minute))
	audits := a.audits(1_000_000)
	if err := audits.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.until(a.time().Add(2 * time.Minute))
	if err := a.server.SetFaults("rpc", replay.Faults{Names: []string{"empty-range"}, Rate: 1}); err != nil {
		t.Fatal(err)
	}
	if err := audits.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := audits.Status()
	if s.Last == nil || s.Last.VenueOnly == 0 || s.Last.OursOnly == 0 || s.Waiting == 0 || s.Phase != follow.Quarantine || !strings.Contains(s.Problems()[0], "are missing") {
		t.Fatalf("s = %+v, s.Last = %+v", s, s.Last)
	}
	if err := a.server.SetFaults("rpc", replay.Faults{}); err != nil {
		t.Fatal(err)
	}
	a.advance(time.Hour)
	audits = a.audits(-1)
	if err := audits.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := audits.Status(); s.Waiting != 0 || s.Mended == 0 || s.Phase != follow.Idle {
		t.Errorf("%+v", s)
	}
}

// TestOverdueResolutionsAreChecked: the venue's newest block, tokens without a market, and
// resolved markets that are open in the catalogue.
func TestOverdueResolutionsAreChecked(t *testing.T) {
	testfiles.InLong(t, "TestMissingRecordsAreRequestedAgain requests markets again")
	a := newAudited(t)
	a.until(a.time())
	audits := a.audits(-1)
	look := func() follow.AuditStatus {
		t.Helper()
		if err := audits.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		return audits.Status()
	}
	if s := look(); s.Unmapped != 0 || s.StillOpen != 0 || s.Stale != 0 || s.VenueBlock == 0 || s.Ahead < 0 || s.Ahead > 400 {
		t.Errorf("%+v", s)
	}
	unmapped := len(column(t, a.k, "SELECT token_id FROM tokens WHERE market IS NULL"))
	resolved := column(t, a.k, "SELECT lower(hex(condition)) FROM markets WHERE payouts IS NOT NULL ORDER BY resolved_at DESC, condition LIMIT 1")
	if unmapped == 0 || len(resolved) == 0 {
		t.Fatalf("%d tokens, %d markets", unmapped, len(resolved))
	}
	condition, err := data.ParseCondition("0x" + resolved[0])
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	if _, err := a.k.Commit(t.Context(), ingest.Rows{Feed: data.Feed{Name: "gamma-markets", Kind: data.KindMarkets}, Name: "test", Read: func(_ context.Context, sink data.Sink) error {
		return sink.Market(1, data.Market{Condition: condition, GammaID: "1", Question: "Open?", Closed: &closed, UpdatedAt: a.time()})
	}}, ingest.Remaining{}); err != nil {
		t.Fatal(err)
	}
	a.advance(65 * time.Minute) // nobody follows the chain meanwhile
	if s := look(); s.Unmapped != int64(unmapped) || s.StillOpen != 0 || s.Stale < 2000 || s.Tell().Differences["blocks"] != s.Stale {
		t.Errorf("after an hour: %+v, %d tokens", s, unmapped)
	}
	a.until(a.time().Add(25 * time.Hour))
	a.describe()
	if _, err := a.k.Commit(t.Context(), ingest.Rows{Feed: data.Feed{Name: "gamma-markets", Kind: data.KindMarkets}, Name: "test", Read: func(_ context.Context, sink data.Sink) error {
		return sink.Market(1, data.Market{Condition: condition, GammaID: "1", Question: "Open?", Closed: &closed, UpdatedAt: a.time()})
	}}, ingest.Remaining{}); err != nil {
		t.Fatal(err)
	}
	if s := look(); s.Unmapped != 0 || s.StillOpen != 1 || s.Stale != 0 {
		t.Errorf("after a day: %+v", s)
	}
}
