package e2e_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/http/wire"
)

// Plain statements over the facts about markets and events; ? is a condition id,
// or the slug of an event.
const (
	someMarkets = `WITH size AS (SELECT t.market, count(*) AS n, max(ts) - min(ts) AS long FROM fills JOIN tokens AS t USING (token) GROUP BY t.market)
SELECT '0x' || lower(hex(condition)) FROM markets WHERE market IN (
  (SELECT market FROM size WHERE market IS NOT NULL ORDER BY n DESC LIMIT 10)
  UNION (SELECT market FROM size WHERE market IS NOT NULL ORDER BY long DESC, market LIMIT 20)
  UNION (SELECT market FROM markets ORDER BY hash(market), market LIMIT 30)
) ORDER BY 1`

	plainFills = `SELECT concat_ws(' ', f.ts // 1000000, '0x' || lower(hex(f.tx)), coalesce(f.log_index::VARCHAR, '-'),
  '0x' || lower(hex(w.address)), t.token_id, ['BUY', 'SELL'][f.side + 1], f.shares, f.usd)
FROM fills AS f JOIN wallets AS w USING (wallet) JOIN tokens AS t USING (token) JOIN markets AS m USING (market)
WHERE m.condition = unhex(substr(?, 3))
ORDER BY f.ts DESC, f.log_index DESC NULLS LAST, f.tx DESC, f.side, f.shares DESC, f.usd DESC, t.token_id, f.repeat, w.address`

	someEvents = `WITH size AS (SELECT m.event_slug AS event, count(*) AS n, count(DISTINCT m.market) AS wide
  FROM fills JOIN tokens USING (token) JOIN markets AS m USING (market) WHERE m.event_slug IS NOT NULL GROUP BY event)
SELECT event FROM (
  (SELECT event FROM size ORDER BY n DESC, event LIMIT 6) UNION (SELECT event FROM size ORDER BY wide DESC, event LIMIT 6)
  UNION (SELECT event FROM size ORDER BY hash(event), event LIMIT 20)
) ORDER BY event`

	plainEvent = `SELECT concat_ws(' ', (SELECT count(*) FROM markets WHERE event_slug = e.slug),
  (SELECT count(*) FROM markets WHERE event_slug = e.slug AND payouts IS NOT NULL), sum(f.usd) FILTER (f.role <> 1),
  sum(f.shares) FILTER (f.role <> 1), count(*) FILTER (f.role <> 1),
  coalesce(sum(f.usd) FILTER (f.role <> 1 AND f.ts > (SELECT max(ts) - 604800000000 FROM fills)), 0), count(DISTINCT f.wallet),
  min(f.ts) // 1000000, max(f.ts) // 1000000)
FROM (SELECT ? AS slug) AS e JOIN markets AS m ON m.event_slug = e.slug JOIN tokens AS t ON t.market = m.market
JOIN fills AS f ON f.token = t.token GROUP BY e.slug`

	plainTraders = `WITH mine AS (
  SELECT f.*, t.market, t.outcome, m.payouts FROM fills AS f JOIN tokens AS t USING (token) JOIN markets AS m ON m.market = t.market
  WHERE m.event_slug = ?
), held AS (
  SELECT wallet, market, outcome, any_value(payouts) AS payouts, count(*) AS n, sum(usd) AS volume, sum(if(side = 0, usd, 0)) AS bought,
    sum(if(side = 1, usd - fee, -usd)) AS cash, sum(if(side = 0, shares - fee, -shares)) AS net
  FROM mine GROUP BY wallet, market, outcome
), worth AS (
  SELECT wallet, market, any_value(payouts) IS NOT NULL AS resolved, sum(n) AS n, sum(volume) AS volume, sum(bought) AS bought, sum(cash) AS cash,
    round(coalesce(sum(net::DECIMAL(28, 0) * payouts[outcome + 1]), 0) / 1000000.0)::BIGINT AS paid
  FROM held GROUP BY wallet, market
)
SELECT concat_ws(' ', '0x' || lower(hex(w.address)), sum(cash + paid), sum(cash), sum(paid), sum(volume), sum(bought), sum(n), count(*),
  count(*) FILTER (resolved), count(*) FILTER (resolved AND cash + paid > 0))
FROM worth JOIN wallets AS w USING (wallet) GROUP BY w.address ORDER BY sum(cash + paid) DESC, sum(volume) DESC, w.address`

	// Tokens of both sides; wallets that are short come last.
	plainHolders = `WITH held AS (
  SELECT f.wallet, t.outcome, any_value(m.payouts) AS payouts, sum(if(f.side = 0, f.shares - f.fee, -f.shares)) AS net,
    sum(if(f.side = 0, f.usd, 0)) AS bought, sum(if(f.side = 1, f.usd, 0)) AS sold, sum(if(f.side = 1, f.usd - f.fee, -f.usd)) AS cash
  FROM fills AS f JOIN tokens AS t USING (token) JOIN markets AS m USING (market) WHERE m.condition = unhex(substr(?, 3))
  GROUP BY f.wallet, t.outcome
), worth AS (
  SELECT wallet, sum(cash) + round(coalesce(sum(net::DECIMAL(28, 0) * payouts[outcome + 1]), 0) / 1000000.0)::BIGINT AS pnl FROM held GROUP BY wallet
)
SELECT concat_ws(' ', '0x' || lower(hex(w.address)), h.outcome, h.net, h.bought, h.sold, h.cash, v.pnl)
FROM held AS h JOIN worth AS v USING (wallet) JOIN wallets AS w USING (wallet) WHERE h.net <> 0
ORDER BY h.net < 0, abs(h.net) DESC, w.address, h.outcome`
)

func TestMarketsEqualPlainSQLOnTheSampleVenue(t *testing.T) {
	v := readSample(t)
	markets := v.table(someMarkets)
	if len(markets) < 40 {
		t.Fatalf("got %d markets", len(markets))
	}
	for _, id := range some(markets, 4) {
		m := reply[wire.One[wire.MarketOverview]](v, "/market/"+id+"/overview").Data
		want, pages := v.table(plainFills, id), []wire.MarketFill(nil)
		if diff := cmp.Diff(want[:min(len(want), 20)], fillLines(m.RecentFills)); diff != "" {
			t.Errorf("newest fills of %s (-facts +API):\n%s", id, diff)
		}
		for cursor := ""; ; {
			p := reply[wire.Page[wire.MarketFill]](v, "/market/"+id+"/trades?limit=170"+cursor)
			if pages = append(pages, p.Data...); p.NextCursor == nil {
				break
			}
			cursor = "&cursor=" + *p.NextCursor
		}
		if diff := cmp.Diff(want, fillLines(pages)); diff != "" {
			t.Errorf("all fills of %s (-facts +API):\n%s", id, diff)
		}
	}
}

func fillLines(fills []wire.MarketFill) (lines []string) {
	for _, f := range fills {
		index := "-"
		if f.LogIndex != nil {
			index = fmt.Sprint(*f.LogIndex)
		}
		lines = append(lines, fmt.Sprint(f.TS.Unix(), " ", orDash(f.TransactionHash), " ", index, " ", f.Address, " ", f.TokenID, " ", f.Side,
			" ", micros(f.Shares), " ", micros(f.USD)))
	}
	return lines
}

func TestHoldersEqualPlainSQLOnTheSampleVenue(t *testing.T) {
	v := readSample(t)
	for _, id := range some(v.table(someMarkets), 3) {
		lines := append(allHolders(v, id, "long"), allHolders(v, id, "short")...)
		if diff := cmp.Diff(v.table(plainHolders, id), lines); diff != "" {
			t.Errorf("holders of %s (-facts +API):\n%s", id, diff)
		}
	}
}

// allHolders reads all pages of a market's holders.
func allHolders(v *venue, market, side string) []string {
	var lines []string
	for {
		p := reply[wire.Holders](v, fmt.Sprintf("/market/%s/holders?side=%s&limit=200&offset=%d", market, side, len(lines)))
		for _, r := range p.Data {
			lines = append(lines, fmt.Sprint(r.Address, " ", r.OutcomeIndex, " ", micros(r.NetShares), " ", micros(r.BuyVolumeUSD), " ", micros(r.SellVolumeUSD), " ",
				micros(r.NetCash), " ", micros(r.RealPnL)))
		}
		if len(p.Data) == 0 || len(lines) >= p.Total {
			return lines
		}
	}
}

func TestEventsEqualPlainSQLOnTheSampleVenue(t *testing.T) {
	v := readSample(t)
	events := v.table(someEvents)
	if len(events) < 20 {
		t.Fatalf("got %d events", len(events))
	}
	for _, slug := range some(events, 3) {
		e := reply[wire.One[wire.EventOverview]](v, "/event/"+slug).Data
		got := fmt.Sprint(e.Markets, " ", e.ResolvedMarkets, " ", micros(e.Volume), " ", micros(e.VolumeShares), " ", e.Trades, " ", micros(e.Volume7d), " ",
			e.Traders, " ", e.FirstTradeAt.Unix(), " ", e.LastTradeAt.Unix())
		if want := v.table(plainEvent, slug)[0]; got != want {
			t.Errorf("event %s: got %s, want %s", slug, got, want)
		}
		if diff := cmp.Diff(v.table(plainTraders, slug), allTraders(v, slug)); diff != "" {
			t.Errorf("traders of %s (-facts +API):\n%s", slug, diff)
		}
		list := reply[wire.Ranked[wire.MarketSummary]](v, "/event/"+slug+"/markets?limit=200")
		sum := list.Data[0].Volume
		for _, m := range list.Data[1:] {
			sum += m.Volume
		}
		if list.Total != e.Markets || list.Total <= 200 && sum != e.Volume {
			t.Errorf("event %s: %d markets with a volume of %s, want %d with %s", slug, list.Total, sum, e.Markets, e.Volume)
		}
		if byID := reply[wire.One[wire.EventOverview]](v, "/event/"+*e.EventID).Data; *byID.EventSlug != slug || byID.Volume != e.Volume {
			t.Errorf("event %s under its id %s: byID = %+v", slug, *e.EventID, byID)
		}
	}
}

// allTraders reads all pages of an event's traders.
func allTraders(v *venue, slug string) []string {
	var lines []string
	for {
		p := reply[wire.Ranked[wire.EventTrader]](v, fmt.Sprintf("/event/%s/traders?limit=200&offset=%d", slug, len(lines)))
		for _, r := range p.Data {
			lines = append(lines, fmt.Sprint(r.Address, " ", micros(r.RealPnL), " ", micros(r.NetCash), " ", micros(r.RedemptionValue), " ", micros(r.Volume), " ",
				micros(r.BuyVolumeUSD), " ", r.Trades, " ", r.Markets, " ", r.ResolvedMarkets, " ", r.WinningMarkets))
		}
		if len(p.Data) == 0 || len(lines) >= p.Total {
			return lines
		}
	}
}
