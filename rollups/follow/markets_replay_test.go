package follow_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"pmx/data/feeds"
	"pmx/data/sample"
	"pmx/data/upstream/dataapi"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/gamma"
	"pmx/engine/enginetest"
	"pmx/http/replay"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
)

// openVenue opens an empty venue.
func openVenue(t *testing.T) *keeper.Keeper {
	t.Helper()
	k, err := keeper.Open(context.Background(), keeper.Config{
		Engine: enginetest.Options(t, t.TempDir(), "1GB"), Log: zerolog.Nop(),
		Feeds: feeds.Catalog{},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// TestFollowedMarketsAreThoseOfTheFile: a venue that is played, with faults of every kind, is
// followed to the same markets as the import of its file gives.
func TestFollowedMarketsAreThoseOfTheFile(t *testing.T) {
	venue, err := sample.New(t.Context(), sample.Config{Fills: 2000, Seed: 3, Chain: true})
	if err != nil {
		t.Fatal(err)
	}
	faults := replay.Faults{Rate: 0.1, Names: []string{"429", "500", "html", "truncated", "empty-list", "filter-ignored", "closed-ignored", "cursor-loop",
		"page-repeated", "empty-page", "lost-market", "short-conditions", "unknown-fields"}}
	s, err := replay.New(t.Context(), replay.Options{Venue: venue, Start: venue.Manifest.End, Seed: 1, Faults: map[string]replay.Faults{"gamma": faults}})
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
	followed, imported := openVenue(t), openVenue(t)
	m := follow.NewMarkets(follow.MarketOptions{Venue: followed, Gamma: gamma.New(host("gamma", "/gamma")), Data: dataapi.New(host("data", "/data")), Now: s.Clock().Now, Pace: 1, Full: 1})
	failed := 0
	for range 20 { // what fails is tried again
		if err := m.Once(t.Context()); err != nil {
			failed++
		}
		if err := m.Reconcile(t.Context()); err != nil {
			failed++
		}
		s.Clock().Advance(20 * time.Minute) // a host that was shut is asked again
	}
	if st := m.State(); failed == 0 || st.Foreign+st.Loops+st.Odd == 0 {
		t.Errorf("%d failures, %+v", failed, st)
	}
	if err := s.SetFaults("gamma", replay.Faults{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.Once(t.Context()), m.Reconcile(t.Context())); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	if _, err := sample.Write(t.Context(), venue.Config(), dir, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := imported.Import(t.Context(), keeper.Request{Paths: []string{filepath.Join(dir, "events.ndjson")}}, nil); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"SELECT concat_ws('|', condition, gamma_id, question, slug, event_id, event_slug, event_title, category, tags, outcomes, token_ids, neg_risk, active, closed, closed_at, end_at, payouts, payout_source, resolved_at) FROM markets ORDER BY condition",
		"SELECT concat_ws('|', t.token_id, t.outcome, m.condition) FROM tokens AS t JOIN markets AS m USING (market) ORDER BY 1",
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

func rowsOf(t *testing.T, k *keeper.Keeper, query string) (out []string) {
	t.Helper()
	err := k.Read(t.Context(), func(conn *sql.Conn) error {
		out = nil
		rows, err := conn.QueryContext(t.Context(), query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				return err
			}
			out = append(out, s)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
