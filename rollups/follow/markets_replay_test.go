package follow_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/data/upstream/dataapi"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/gamma"
	"pmx/http/replay"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
)

// TestFollowedMarketsAreThoseOfTheFile: following a simulated venue with faults of every kind gives
// the same markets as importing its file.
func TestFollowedMarketsAreThoseOfTheFile(t *testing.T) {
	played, err := sample.New(t.Context(), sample.Config{Fills: int64(testfiles.Cases(600, 2000)), Days: testfiles.Cases(8, 0), Seed: 3, Chain: true})
	if err != nil {
		t.Fatal(err)
	}
	faults := replay.Faults{Rate: []float64{0.1, 0.3}[testfiles.Cases(1, 0)], Names: []string{"429", "500", "html", "truncated", "empty-list", "filter-ignored", "closed-ignored", "cursor-loop",
		"page-repeated", "empty-page", "lost-market", "short-conditions", "unknown-fields"}}
	s, err := replay.New(t.Context(), replay.Options{Venue: played, Start: played.Manifest.End, Seed: 1, Faults: map[string]replay.Faults{"gamma": faults}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	defer s.Close()
	host := func(name, base string) *fetch.Host {
		h, err := fetch.New(fetch.Options{Name: name, Base: server.URL + base, Contact: "ops@example.org", Now: s.Clock().Now,
			Budget: fetch.Budget{PerSecond: 1e5, Burst: 1000, InFlight: 4}, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(h.Close)
		return h
	}
	followed, imported := factsOnly(t, unserved), factsOnly(t, unserved)
	m := follow.NewMarkets(follow.MarketOptions{Venue: followed, Gamma: gamma.New(host("gamma", "/gamma")), Data: dataapi.New(host("data", "/data")), Now: s.Clock().Now, Pace: 1, Full: 1})
	failed := 0
	for range testfiles.Cases(8, 20) { // failures are repeated
		if err := m.Once(t.Context()); err != nil {
			failed++
		}
		if err := m.Reconcile(t.Context()); err != nil {
			failed++
		}
		s.Clock().Advance(20 * time.Minute) // a host with an open circuit is used again
	}
	if st := m.Status(); failed == 0 || st.Foreign+st.Loops+st.Odd == 0 {
		t.Errorf("%d failures, %+v", failed, st)
	}
	if err := s.SetFaults("gamma", replay.Faults{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.Once(t.Context()), m.Reconcile(t.Context())); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	if _, err := sample.Write(t.Context(), played.Config(), dir, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := imported.Import(t.Context(), keeper.Request{Paths: []string{filepath.Join(dir, "events.ndjson")}}, nil); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"SELECT concat_ws('|', condition, gamma_id, question, slug, event_id, event_slug, event_title, category, tags, outcomes, token_ids, neg_risk, active, closed, closed_at, end_at, payouts, payout_source, resolved_at) AS row FROM markets",
		"SELECT concat_ws('|', t.token_id, t.outcome, m.condition) AS row FROM tokens AS t JOIN markets AS m USING (market)",
	} {
		want, got := rowsOf(t, imported, query), rowsOf(t, followed, query)
		if len(want) == 0 {
			t.Error("the file has no markets")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-imported +followed):\n%s", query, diff[:min(len(diff), 4000)])
		}
	}
}
