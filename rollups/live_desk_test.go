package rollups

import (
	"database/sql"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pmx/data/testfiles"
	"pmx/rollups/serving"
)

// Events that are sorted in Go are those that the database sorts, with open bounds, and with equal ones, which only the
// database can sort.
func TestEventsAreSortedAsTheDatabaseDoes(t *testing.T) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	run := func(query string, args ...any) {
		if _, err := conn.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	run(`CREATE TABLE desk_market(market INTEGER, "event" VARCHAR, event_id VARCHAR, city VARCHAR, metric TINYINT, "day" INTEGER, lo SMALLINT, hi SMALLINT,
		unit VARCHAR, tiled BOOLEAN, archived BOOLEAN, station VARCHAR, "source" VARCHAR, fallback VARCHAR, rounding TINYINT, revisable BOOLEAN, stated BOOLEAN)`)
	run("CREATE TABLE markets(market INTEGER, condition BLOB)")
	newSection := func() *deskSection {
		return &deskSection{cities: map[string]*deskCity{"london": {}, "miami": {}}, events: map[string]*serving.DeskEvent{},
			markets: map[int32]*deskMarket{}, dirty: map[string]bool{}}
	}
	ties := 0
	venue := func(rt *rapid.T) {
		run("DELETE FROM desk_market")
		run("DELETE FROM markets")
		bound := rapid.Custom(func(rt *rapid.T) any {
			if n := rapid.IntRange(-2, 7).Draw(rt, "bound"); n < 5 {
				return n
			}
			return nil
		})
		city := rapid.SampledFrom([]string{"london", "miami", "nowhere"})
		cities := map[string]string{}
		var last string
		var lo, hi any
		for market := range rapid.IntRange(0, 15).Draw(rt, "markets") {
			event := strings.Repeat("e", rapid.IntRange(1, 6).Draw(rt, "event"))
			if last == "" || rapid.IntRange(0, 2).Draw(rt, "as the last") > 0 { // else its bounds are equal
				last, lo, hi = event, bound.Draw(rt, "lo"), bound.Draw(rt, "hi")
			}
			event = last
			if cities[event] == "" {
				cities[event] = city.Draw(rt, "city")
			}
			run("INSERT INTO desk_market VALUES (?, ?, ?, ?, 0, 20500, ?, ?, 'F', true, false, 's', 'wunderground', '', 0, false, false)",
				market, event, "id of "+event, cities[event], lo, hi)
			if rapid.IntRange(0, 5).Draw(rt, "known") > 0 {
				run("INSERT INTO markets VALUES (?, ?)", market, []byte{rapid.Byte().Draw(rt, "condition")})
			}
		}
		want, got := newSection(), newSection()
		if err := want.addRows(t.Context(), conn, statements.Get("DeskLoad", "@which", "true")); err != nil {
			rt.Fatal(err)
		}
		sorted, err := got.loadSorted(t.Context(), conn)
		if err != nil {
			rt.Fatal(err)
		}
		if got = newSection(); !sorted {
			ties++
		}
		if err := got.load(t.Context(), conn, "true", true); err != nil {
			rt.Fatal(err)
		}
		opts := cmp.Options{cmp.AllowUnexported(deskSection{}, deskCity{}, deskMarket{}), cmpopts.IgnoreFields(deskSection{}, "added")}
		if diff := cmp.Diff(want, got, opts); diff != "" || len(want.added) != len(got.added) {
			rt.Errorf("(-database +Go):\n%s", diff)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		for range testfiles.Cases(20, 10) { // a long run checks more often
			venue(rt)
		}
	})
	if ties == 0 {
		t.Error("no event had brackets with equal bounds")
	}
}
