package follow_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/rollups/keeper"
)

// dayTables are queries of the fact tables whose rows do not depend on how they were imported, by
// name. They do not depend on ids.
var dayTables = map[string]string{
	"fills":         tables["fills"],
	"waiting_fills": tables["waiting"],
	"wallet_total":  tables["totals"],
	"tokens":        tables["tokens"],
	"lost_fills": "SELECT hex(w.address), t.token_id, f.* EXCLUDE (wallet, token, tx), hex(f.tx) FROM lost_fills AS f JOIN wallets AS w USING (wallet) " +
		"JOIN tokens AS t ON t.token = f.token",
	"wallets":       "SELECT hex(address) FROM wallets",
	"wallet_names":  "SELECT hex(w.address), n.name, n.ts FROM wallet_names AS n JOIN wallets AS w USING (wallet)",
	"blocks":        "FROM blocks",
	"block_times":   "FROM block_times",
	"spare_payouts": "SELECT * REPLACE (hex(condition) AS condition) FROM spare_payouts",
	// A record is not written if only its version, which is updated_at, or that of the quote
	// changes.
	"markets": "SELECT * EXCLUDE (market, condition, updated_at, quote), hex(condition), quote.bid, quote.ask, quote.last, quote.liquidity FROM markets",
	// Which source had a payout first, and when, depends on the import: in the files, markets come
	// after the chain, whose payouts are then only in the market.
	"payout_log": "SELECT DISTINCT hex(m.condition), p.payouts FROM payout_log AS p JOIN markets AS m USING (market)",
}

// notOfDay are the tables that are not compared, by reason.
var notOfDay = map[string]string{
	"computed from the facts: verify computes them again and compares": "candle day_markets desk_market desk_state desk_wallet event_wallets index_flow index_late index_snapshot " +
		"index_stored late_days market_wallets month_wallets oracle_bin platform_day platform_hour position redemption rollup_state token_day token_price token_total token_window " +
		"undated wallet_day wallet_window weather_lead week_wallets whale_move whale_rule",
	"how the facts came: by which batch, range or cursor": "batches sync_cursor sync_range",
	"of the database itself":                              "closing_mark schema_version goose_db_version",
	"only files tell of it":                               "weather_normal",
	"of a directory that pulled, which nothing follows":   "pulled pulled_fill pulled_position",
	"compared in part, by weatherOf and lastPrices":       "weather_issue weather_report weather_obs live_quote",
}

// TestEveryTableIsComparedOrLeftOut: every table is compared by TestADayThroughAllFaultsIsTheImport
// or listed with a reason.
func TestEveryTableIsComparedOrLeftOut(t *testing.T) {
	everyTable(t, venue(t, t.TempDir(), unserved))
}

// everyTable checks that each table of a venue is compared, or left out for a reason.
func everyTable(t *testing.T, k *keeper.Keeper) {
	t.Helper()
	known := map[string]bool{}
	for name := range dayTables {
		known[name] = true
	}
	for _, names := range notOfDay {
		for _, name := range strings.Fields(names) {
			known[name] = true
		}
	}
	for _, row := range rowsOf(t, k, "SELECT table_name AS name FROM duckdb_tables() WHERE NOT internal") {
		name := strings.TrimSuffix(strings.Split(row, `"`)[3], "_delta")
		if !known[name] {
			t.Errorf("the table %s is neither compared nor left out for a reason", name)
		}
	}
}

// factsOfDay are the rows of dayTables.
func factsOfDay(t *testing.T, k *keeper.Keeper) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for name, query := range dayTables {
		out[name] = rowsOf(t, k, query)
	}
	for name, least := range map[string]int{"fills": 2_000, "markets": 300, "tokens": 600, "wallets": 100, "wallet_total": 100, "payout_log": 100} {
		if len(out[name]) < least {
			t.Errorf("%s has %d rows", name, len(out[name]))
		}
	}
	return out
}

func dayEqual(t *testing.T, k *keeper.Keeper, want map[string][]string) {
	t.Helper()
	got := factsOfDay(t, k)
	for name := range dayTables {
		if diff := rowsDiffer(want[name], got[name]); diff != "" {
			t.Errorf("%s differ: %s", name, diff)
		}
	}
}

// common compares files of a venue with following it: all rows of the files' statement must be rows
// of the other, and there must be no others if all is set.
type common struct {
	name             string
	files, followed  string
	least            int
	followedHaveMore bool
}

// weatherOf are those of the weather. Runs of models came between from and to, while they were
// followed.
func (d *playedDay) weatherOf(followed [][2]time.Time) []common {
	end := d.venue.Manifest.End
	lastTwo := d.inCities() + fmt.Sprintf(" AND ts >= %d AND ts < %d", end.AddDate(0, 0, -2).UnixMicro(), end.UnixMicro())
	const run = 6 * time.Hour
	// began gives the time in µs when the run came that a forecast is of: the files have what
	// they were given just then, a lane asks for it within the next hours.
	began := func(first time.Time) string {
		from := first.Add(-1000 * run).UnixMicro()
		return fmt.Sprintf("%d + (issued_at - %d) // %d * %[3]d", from, from, run.Microseconds())
	}
	var runs []string
	for at := end.Add(30*time.Minute - 40*run); at.Before(end); at = at.Add(run) {
		for _, f := range followed {
			if !at.Before(f[0]) && at.Add(2*time.Hour).Before(f[1]) {
				runs = append(runs, fmt.Sprint(at.UnixMicro()))
			}
		}
	}
	forecasts := func(more string) string {
		return "SELECT DISTINCT city, target, metric, source, run, value FROM (SELECT *, " + began(end.Add(30*time.Minute)) + " AS run FROM weather_issue WHERE " + d.inCities() +
			" AND source IN ('ecmwf_ifs025', 'gfs_seamless', 'icon_seamless')) WHERE run IN (" + strings.Join(runs, ", ") + ")" + more
	}
	ensembles := func(more string) string {
		return "SELECT DISTINCT city, target, metric, run, value, members FROM (SELECT *, " + began(end.Add(-90*time.Minute)) + " AS run FROM weather_issue WHERE " + d.inCities() +
			" AND members IS NOT NULL) WHERE run = " + fmt.Sprint(end.Add(-90*time.Minute).UnixMicro()) + more
	}
	// A city's today may be over when a lane sends its request.
	const behindToday = " QUALIFY target > min(target) OVER (PARTITION BY city, run)"
	days := fmt.Sprintf("SELECT city, day, metric, kind, source, station, value FROM weather_actual WHERE "+d.inCities()+
		" AND kind = 2 AND day >= %d AND day < %d AND (city, day) NOT IN (VALUES %s)", end.Unix()/86_400-9, end.Unix()/86_400-1, strings.Join(d.goneOver(), ", "))
	reports := "SELECT city, station, source, ts, report, day, value, whole, correction, seen_at FROM weather_obs WHERE source = 'metar' AND " + lastTwo
	observations := "SELECT city, station, ts, day, value, whole FROM weather_obs WHERE source = '%s' AND station IN (" + strings.Join(d.americans(), ", ") + ") AND " + lastTwo
	return []common{
		{"reports", reports, reports, 500, false},
		// The files have no observations of the weather service, but the reports of its stations.
		{"observations", fmt.Sprintf(observations, "metar"), fmt.Sprintf(observations, "nws"), 100, false},
		{"forecasts", forecasts(behindToday), forecasts(""), 300, true},
		// The files have one model, the lane requests two at once.
		{"ensembles", ensembles(behindToday), ensembles(""), 50, true},
		{"past days", days, days, 200, false},
	}
}

// inCities is the condition for rows of followed cities.
func (d *playedDay) inCities() string {
	var names []string
	for _, c := range d.cities.Cities() {
		names = append(names, "'"+c.Slug+"'")
	}
	return "city IN (" + strings.Join(names, ", ") + ")"
}

// archive writes the archive's values at the end of the venue for its days. Each of the venue's own
// files has only two of them.
func (d *playedDay) archive(path string) error {
	weather, err := d.venue.Weather()
	if err != nil {
		return err
	}
	end := d.venue.Manifest.End
	var lines bytes.Buffer
	for _, c := range d.cities.Cities() {
		today := c.DateOf(end)
		said, err := weather.Archive(weather.Place(c.Lat, c.Lon), end, today-10, today-1)
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, `{"_meta":{"source":"open-meteo","kind":"weather-archive","city":%q,"latitude":%g,"longitude":%g,"fetched_at_utc":%q},"response":%s}`+"\n",
			c.Slug, c.Lat, c.Lon, end.Format(time.RFC3339), said)
	}
	return os.WriteFile(path, lines.Bytes(), 0o600)
}

// americans returns the stations of the United States as SQL literals.
func (d *playedDay) americans() (out []string) {
	for _, c := range d.cities.Cities() {
		if c.Country == "US" {
			out = append(out, "'"+c.Station+"'")
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// goneOver returns the cities and days that the archive revises between the end of the venue, as of
// which the files are, and its last request a few hours later.
func (d *playedDay) goneOver() []string {
	out := []string{"('', 0)"}
	end := d.venue.Manifest.End
	for _, c := range d.cities.Cities() {
		for day := c.DateOf(end) - 4; day < c.DateOf(end); day++ {
			if _, over := c.Day(day); over.Add(48*time.Hour).After(end) && over.Add(44*time.Hour).Before(end) {
				out = append(out, fmt.Sprintf("('%s', %d)", c.Slug, day))
			}
		}
	}
	return out
}

// mustHave compares what files have in common with what was followed.
func mustHave(t *testing.T, imported, k *keeper.Keeper, c *common) {
	t.Helper()
	want, got := rowsOf(t, imported, c.files), rowsOf(t, k, c.followed)
	if len(want) < c.least {
		t.Errorf("%s: the files have %d", c.name, len(want))
	}
	all := len(got)
	if c.followedHaveMore {
		wanted := map[string]bool{}
		for _, row := range want {
			wanted[row] = true
		}
		got = slices.DeleteFunc(got, func(row string) bool { return !wanted[row] })
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %d are followed, %d imported (-imported +followed):\n%s", c.name, all, len(want), diff[:min(len(diff), 2000)])
	}
}

// lastPrices compares the last prices of markets with an order book. Bids and asks are not
// compared: the book of a simulated market is made around its last trade, and the files have quotes
// of another moment.
func (d *playedDay) lastPrices() common {
	var traded []string
	for _, c := range d.trading() {
		traded = append(traded, fmt.Sprintf("'%X'", c[:]))
	}
	of := "hex(m.condition) IN (" + strings.Join(traded, ", ") + ")"
	return common{"last prices", "SELECT m.slug, quote.last AS last FROM markets AS m WHERE quote.last IS NOT NULL AND " + of,
		"SELECT m.slug, q.last_price AS last FROM live_quote AS q JOIN markets AS m USING (market) WHERE q.last_price IS NOT NULL AND " + of, 50, false}
}
