package e2e_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/http/wire"
)

// plainBrackets are a city's brackets from a day on, with their trades: all brackets of events
// in which any one is active, not closed and not resolved.
const plainBrackets = `WITH bracket AS (
  SELECT m.*, regexp_extract(m.event_slug, 'on-([a-z]+-[0-9]+-[0-9]+)$', 1) AS said,
    (strptime(said, '%B-%-d-%Y')::DATE)::VARCHAR AS day
  FROM markets AS m WHERE m.series_slug = ? || '-daily-weather'
), traded AS (
  SELECT t.market, count(*) FILTER (f.role <> 1) AS trades, sum(f.usd) FILTER (f.role <> 1) AS usd, count(DISTINCT f.wallet) AS wallets
  FROM fills AS f JOIN tokens AS t USING (token) GROUP BY t.market
)
SELECT concat_ws(' ', b.day, '0x' || lower(hex(b.condition)), coalesce(x.usd, 0), coalesce(x.trades, 0), coalesce(x.wallets, 0), b.best_bid, b.best_ask, b.group_item_title)
FROM bracket AS b LEFT JOIN traded AS x USING (market)
WHERE b.day >= ? AND EXISTS (FROM bracket AS o WHERE o.event_slug = b.event_slug AND o.active IS NOT FALSE AND o.closed IS NOT TRUE AND o.payouts IS NULL)
ORDER BY 1`

// normal is the distribution function of the standard normal distribution.
func normal(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// settles returns the share of a normal distribution that settles in a bracket of whole degrees,
// rounded half up or truncated.
func settles(b *wire.WeatherBracket, e *wire.WeatherEvent) float64 {
	below := 0.5
	if e.Rounding == "floor" {
		below = 0
	}
	at := func(bound float64) float64 {
		return normal((bound - below - float64(e.Estimate.Mean)/100) / (float64(e.Estimate.Sigma) / float64(data.One)))
	}
	lo, hi := 0.0, 1.0
	if b.Lo != nil {
		lo = at(float64(*b.Lo))
	}
	if b.Hi != nil {
		hi = at(float64(*b.Hi + 1))
	}
	return hi - lo
}

func TestTheDeskEqualsPlainSQLOnTheSampleVenue(t *testing.T) {
	v := readSample(t)
	grid := reply[wire.WeatherCities](v, "/weather/cities")
	if len(grid.Data) != 55 {
		t.Fatalf("got %d cities", len(grid.Data))
	}
	var day, week, ever data.Micro
	estimates, dead := 0, 0
	for _, c := range grid.Data {
		day, week, ever = day+c.Volume24h, week+c.Volume7d, ever+c.VolumeLifetime
		if c.Volume != c.VolumeLifetime || len(c.NullReasons) != 0 {
			t.Errorf("%s: volume %s of %s, %v is missing", c.City, c.Volume, c.VolumeLifetime, c.NullReasons)
		}
		m := reply[wire.WeatherMarkets](v, "/weather/city/"+c.City+"/markets")
		var got []string
		open := 0
		for _, b := range m.Data {
			got = append(got, fmt.Sprint(b.TargetDate, " ", b.ConditionID, " ", micros(b.Volume), " ", b.Trades, " ", b.Traders, " ", micros(*b.BestBid), " ",
				micros(*b.BestAsk), " ", b.Label))
			if b.Status == "open" {
				open++
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(v.table(plainBrackets, c.City, *c.LocalDate), got); diff != "" {
			t.Errorf("brackets of %s (-facts +API):\n%s", c.City, diff)
		}
		if open != c.OpenCount || len(m.Events) != c.MarketCount || c.CountsSource != "live" {
			t.Errorf("%s: %d brackets of %d events are open, the grid says %d and %d (%s)", c.City, open, len(m.Events), c.OpenCount, c.MarketCount, c.CountsSource)
		}
		for i := range m.Events {
			e := &m.Events[i]
			rows := slices.DeleteFunc(slices.Clone(m.Data), func(b wire.WeatherBracket) bool { return b.EventSlug != e.EventSlug })
			dead += checkModel(t, e, rows)
			if e.Estimate != nil {
				estimates++
			}
		}
	}
	if day != grid.Volume24hTotal || week != grid.Volume7dTotal || ever != grid.VolumeLifetimeTotal || day == 0 {
		t.Errorf("sums of rows: %s, %s and %s, totals: %s, %s and %s", day, week, ever, grid.Volume24hTotal, grid.Volume7dTotal, grid.VolumeLifetimeTotal)
	}
	if estimates < 100 || dead == 0 {
		t.Errorf("%d estimates, %d dead brackets", estimates, dead)
	}
}

// checkModel recomputes an event's probabilities and edges from what it shows, and returns the
// number of dead brackets.
func checkModel(t *testing.T, e *wire.WeatherEvent, rows []wire.WeatherBracket) (dead int) {
	t.Helper()
	alive := 0.0
	for i := range rows {
		if rows[i].Dead != nil && *rows[i].Dead {
			dead++
			continue
		}
		alive += settles(&rows[i], e)
	}
	model, market := data.Micro(0), data.Micro(0)
	for i := range rows {
		b := &rows[i]
		model, market = model+*b.PModel, market+*b.PMarket
		want := settles(b, e) / alive
		if b.Dead != nil && *b.Dead {
			want = 0
		}
		// Mean and width are shown to a hundredth of a degree.
		if p := float64(*b.PModel) / float64(data.One); alive > 0.05 && math.Abs(p-want) > 0.02 {
			t.Errorf("%s %s: p_model is %s, by the estimate %.6f", e.EventSlug, b.Label, b.PModel, want)
		}
		ask := float64(*b.BestAsk) / float64(data.One)
		if edge := float64(*b.PModel)/float64(data.One) - ask - 0.05*ask*(1-ask); math.Abs(edge-float64(*b.Edge)/float64(data.One)) > 1e-6 {
			t.Errorf("%s %s: edge is %s, want %.6f", e.EventSlug, b.Label, b.Edge, edge)
		}
	}
	if model != data.One || market != data.One {
		t.Errorf("%s: sum of probabilities %s, sum of prices %s", e.EventSlug, model, market)
	}
	return dead
}

func sum(all []data.Micro) (total data.Micro) {
	for _, p := range all {
		total += p
	}
	return total
}

// The bundle equals the brackets of every city, in at most 200 KB, and its tag does not change
// while its content does not, however the venue changes.
func TestTheBundleIsTheDeskInShort(t *testing.T) {
	v := newSample(t)
	res := v.ask("GET", "/weather/bot-bundle", "")
	if n := len(res.Body()); n > 200_000 {
		t.Errorf("got %d bytes", n)
	}
	bundle := reply[wire.WeatherBundle](v, "/weather/bot-bundle")
	if bundle.LeftOut != nil {
		t.Errorf("the sample's bundle leaves out %+v", bundle.LeftOut)
	}
	events := 0
	for i := range bundle.Data { // with ids all cities would not fit
		bundle.Data[i] = reply[wire.WeatherBundle](v, "/weather/bot-bundle?include=ids&cities="+bundle.Data[i].City).Data[0]
		c := bundle.Data[i]
		m := reply[wire.WeatherMarkets](v, "/weather/city/"+c.City+"/markets")
		row := 0
		for i, e := range c.Events {
			events++
			if e.Slug != m.Events[i].EventSlug || e.Consensus.Mean != m.Events[i].Consensus.Mean || e.Consensus.N != len(e.Forecast) {
				t.Errorf("%s: %+v, by itself %+v", e.Slug, e.Consensus, m.Events[i].Consensus)
			}
			if sum(e.Brackets.PModel) != data.One || sum(e.Brackets.PMkt) != data.One {
				t.Errorf("%s: sum of probabilities %s, sum of prices %s", e.Slug, sum(e.Brackets.PModel), sum(e.Brackets.PMkt))
			}
			for k := range e.Brackets.Vol {
				b := m.Data[row]
				row++
				if e.Brackets.ConditionID[k] != b.ConditionID || e.Brackets.Vol[k] != b.Volume || *e.Brackets.Ask[k] != *b.BestAsk ||
					max(e.Brackets.PModel[k]-*b.PModel, *b.PModel-e.Brackets.PModel[k]) > 100 {
					t.Errorf("%s %s: %v in the bundle", e.Slug, b.Label, e.Brackets)
				}
			}
		}
		if row != len(m.Data) {
			t.Errorf("%s: %d brackets in the bundle, %d by themselves", c.City, row, len(m.Data))
		}
	}
	if events < 100 {
		t.Errorf("got %d events", events)
	}
	before := string(res.Header.Peek("Etag"))
	asOf := reply[wire.WeatherBundle](v, "/weather/bot-bundle").AsOf
	v.load(v.write("later.csv", "ts,wallet,role,token,side,shares,usd\n"+asOf.Add(2e9).Format("2006-01-02T15:04:05Z")+
		",0x00000000000000000000000000000000000000aa,taker,987654321,BUY,10,5\n"))
	after := v.ask("GET", "/weather/bot-bundle", "")
	if tag := string(after.Header.Peek("Etag")); tag != before {
		t.Errorf("the tag was %s and is %s, although nothing of the weather changed", before, tag)
	}
	if now := reply[wire.WeatherBundle](v, "/weather/bot-bundle").AsOf; !now.After(*asOf) {
		t.Errorf("as_of is %s, was %s", now, asOf)
	}

	// All cities fit, however many sources there are: forecasts of single sources are left out, and
	// the bundle says so.
	var more strings.Builder
	for _, c := range bundle.Data {
		for _, e := range c.Events {
			for source := range 9 {
				fmt.Fprintf(&more, `{"city":%q,"target":%q,"metric":%q,"source":"another_model_%d","issued_at":%q,"value":"%d.%d","unit":"C"}`+"\n",
					c.City, e.TargetDate, e.Metric, source, asOf.Format("2006-01-02T15:04:05Z"), 10+source, source)
			}
		}
	}
	v.load(v.write("more.ndjson", more.String()))
	if n := len(v.ask("GET", "/weather/bot-bundle", "").Body()); n > 200_000 {
		t.Errorf("%d bytes with 13 sources", n)
	}
	full, nyc := reply[wire.WeatherBundle](v, "/weather/bot-bundle"), reply[wire.WeatherBundle](v, "/weather/bot-bundle?cities=nyc")
	at := slices.IndexFunc(full.Data, func(c wire.BundleCity) bool { return c.City == "nyc" })
	short, whole := full.Data[at].Events[0], nyc.Data[0].Events[0]
	if short.Forecast != nil || short.NullReasons["forecast"] != "bundle_size" || short.Consensus.N != 13 || len(whole.Forecast) != 13 {
		t.Errorf("all cities: %+v %v, New York alone: %+v", short.Forecast, short.NullReasons, whole.Forecast)
	}
}
