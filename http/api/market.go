package api

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// marketReader is what the market endpoints read of one market.
type marketReader interface {
	// MarketTexts returns what the snapshot leaves out of a market, as of batch or later.
	MarketTexts(ctx context.Context, market int32, batch int64) (serving.MarketTexts, error)
	// MarketFills adds the n newest fills of a market with these tokens and figures to dst, newest first, of
	// imports up to batch; if after is given, those that follow it in the order of
	// serving.Fill.CompareInBlock.
	MarketFills(ctx context.Context, dst []serving.Fill, tokens []data.TokenID, batch int64, f *serving.Figures, after *serving.Fill, n int) ([]serving.Fill, error)
	// Candles returns the n newest candles of tokens, newest first and then by outcome, in
	// intervals of so many hours; if after is given, those that follow it. They are as of batch or
	// later.
	Candles(ctx context.Context, tokens []serving.OutcomeToken, batch, hours int64, after *serving.Candle, n int) ([]serving.Candle, error)
	// Holders lists who holds tokens of one market, or is short of them, by the fills of imports of the snapshot, without
	// the venue's own wallets.
	Holders(ctx context.Context, s *serving.Snapshot, market int32, q serving.HolderQuery) (serving.HolderList, error)
	// MarketInMemory reports whether these reads are so cheap that keeping their results would cost
	// more.
	MarketInMemory(market int32, tokens []data.TokenID, batch int64) bool
}

// recentFills is how many fills an overview shows.
const recentFills = 20

// marketID is the market in the path.
var marketID = &Param{Name: "condition_id", InPath: true, Kind: ConditionArg, Doc: "condition id, case-insensitive; an id of 62 digits is read as if 00 were appended"}

func marketRoutes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/market/{condition_id}/overview", Section: wire.Market,
			Summary: "A market: description, figures, resolution and newest fills", serve: (*API).marketOverview,
			Params: []*Param{marketID}, Reply: wire.One[wire.MarketOverview]{}, Codes: []string{"market_not_found", "fills_elsewhere"},
			Doc: "Volumes, trades and traders are lifetime figures unless their name says otherwise, and windows are rolling. " +
				"`price` is that of the first outcome; `outcomes` has the price of each outcome. `recent_fills` contains both " +
				"sides of each match, as far back as the plan's history goes; `truncated` is true if older ones were left out.",
		},
		candlesRoute(),
		holdersRoute(),
		marketTradesRoute(),
	}
}

// currentMarket returns the published snapshot, and in it the market that the path names.
func (a *API) currentMarket(call *Call) (*encodedSnapshot, *serving.Market, error) {
	v, err := a.current()
	if err != nil {
		return nil, nil, err
	}
	m := v.snap.Catalog.Find(call.value(marketID).hash)
	if m == nil {
		return nil, nil, missing("market_not_found", "No market with this condition id is known. Check the id.")
	}
	return v, m, nil
}

// marketOverview answers GET /market/{condition_id}/overview.
func (a *API) marketOverview(c *fiber.Ctx, call *Call) error {
	v, m, err := a.currentMarket(call)
	if err != nil {
		return err
	}
	w := a.scratch.get()
	defer a.scratch.put(w)
	more, err := a.marketRead(v, w, m)
	if err != nil {
		return err
	}
	e := envelope{tier: call.tier, maxRows: noRows}
	shown := more.fills
	for i := range shown {
		if start := historyStart(call.tier, v.snap); shown[i].TS < start {
			e.trimHistory(v.snap, shown[len(shown)-1].TS)
			shown = shown[:i]
			break
		}
	}
	mark, start := a.beginReply(call, v.asOf, e)
	b := append(call.buf, `,"data":`...)
	call.buf = appendMarket(b, v.snap, m, &more.texts, shown)
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// marketRead is the part of an overview that is not in the snapshot.
type marketRead struct {
	texts serving.MarketTexts
	fills []serving.Fill
}

// marketRead reads into w, or, if reading takes long, keeps what was read for the epoch.
func (a *API) marketRead(v *encodedSnapshot, w *scratch, m *serving.Market) (marketRead, error) {
	if a.reader.MarketInMemory(m.ID, v.snap.Catalog.Tokens(m.ID), v.snap.Batch) {
		r, err := a.readMarket(context.Background(), v, w.filled[:0], m)
		w.filled = r.fills
		return r, err
	}
	return cachedRead(a, v, fmt.Sprint("market ", m.ID), func(ctx context.Context) (marketRead, error) { return a.readMarket(ctx, v, nil, m) })
}

// readMarket reads into the memory of dst.
func (a *API) readMarket(ctx context.Context, v *encodedSnapshot, dst []serving.Fill, m *serving.Market) (r marketRead, err error) {
	if r.texts, err = a.reader.MarketTexts(ctx, m.ID, v.snap.Batch); err != nil {
		return r, err
	}
	r.fills, err = a.reader.MarketFills(ctx, dst, v.snap.Catalog.Tokens(m.ID), v.snap.Batch, v.snap.Catalog.Figures(m.ID), nil, recentFills)
	return r, err
}

// appendMarket writes wire.MarketOverview.
func appendMarket(b []byte, snap *serving.Snapshot, m *serving.Market, t *serving.MarketTexts, fills []serving.Fill) []byte {
	f := snap.Catalog.Figures(m.ID)
	b = appendDescription(append(b, '{'), m, t)
	b = appendVolumes(append(b, ','), f)
	b = appendFigure(append(b, `,"price":`...), f.Price)
	b = appendFigure(append(b, `,"price_change_24h":`...), f.PriceChange24h)
	b = appendAmount(append(b, `,"best_bid":`...), m.BestBid)
	b = appendAmount(append(b, `,"best_ask":`...), m.BestAsk)
	b = appendMicros(append(b, `,"quoted_at":`...), quotedTS(m))
	b = appendFigure(append(b, `,"spread":`...), f.Spread)
	b = appendFigure(append(b, `,"liquidity":`...), f.Liquidity)
	b = appendAmount(append(b, `,"reported_volume":`...), m.ReportedVolume)
	b = append(b, `,"outcomes":`...)
	b = appendRows(b, outcomeCount(snap.Catalog, m), func(b []byte, i int) []byte { return appendMarketOutcome(b, snap.Catalog, m, int8(i)) })
	b = appendResolution(append(b, `,"resolution":`...), snap.Catalog, m, t)
	b = append(b, `,"recent_fills":`...)
	b = appendRows(b, len(fills), func(b []byte, i int) []byte { return appendMarketFill(b, snap, &fills[i]) })
	return append(b, '}')
}

// appendDescription writes the members of wire.MarketOverview up to updated_at.
func appendDescription(b []byte, m *serving.Market, t *serving.MarketTexts) []byte {
	b = m.Condition.Append(append(b, `"condition_id":"`...))
	b = appendText(append(b, `","question":`...), m.Question)
	b = appendText(append(b, `,"slug":`...), m.Slug)
	b = appendText(append(b, `,"description":`...), t.Description)
	b = appendText(append(b, `,"resolution_source":`...), t.ResolutionSource)
	b = appendText(append(b, `,"group_item_title":`...), t.GroupItemTitle)
	b = appendText(append(b, `,"event_id":`...), m.EventID)
	b = appendText(append(b, `,"event_slug":`...), m.EventSlug)
	b = appendText(append(b, `,"event_title":`...), m.EventTitle)
	b = appendText(append(b, `,"series_slug":`...), m.SeriesSlug)
	b = appendText(append(b, `,"category":`...), m.Category)
	b = appendTexts(append(b, `,"tags":`...), m.Tags)
	b = appendFlag(append(b, `,"neg_risk":`...), m.NegRisk)
	b = append(append(append(b, `,"status":"`...), m.Status()...), '"')
	b = appendFlag(append(b, `,"accepting_orders":`...), m.AcceptingOrders)
	b = appendMicros(append(b, `,"created_at":`...), m.CreatedTS)
	b = appendMicros(append(b, `,"start_date":`...), m.StartTS)
	b = appendMicros(append(b, `,"end_date":`...), m.EndTS)
	b = appendMicros(append(b, `,"closed_at":`...), m.ClosedTS)
	return appendMicros(append(b, `,"updated_at":`...), m.UpdatedTS)
}

// appendVolumes adds the members from volume to last_trade_at.
func appendVolumes(b []byte, f *serving.Figures) []byte {
	b = f.VolumeUSD.Append(append(b, `"volume":`...))
	b = f.VolumeShares.Append(append(b, `,"volume_shares":`...))
	b = appendText(append(b, `,"volume_basis":`...), basisName(f))
	b = f.Volume24h.Append(append(b, `,"volume_24h":`...))
	b = f.Volume7d.Append(append(b, `,"volume_7d":`...))
	b = f.Volume30d.Append(append(b, `,"volume_30d":`...))
	b = strconv.AppendInt(append(b, `,"trades":`...), f.Trades, 10)
	b = strconv.AppendInt(append(b, `,"traders":`...), int64(f.Traders), 10)
	b = strconv.AppendInt(append(b, `,"traders_24h":`...), int64(f.Traders24h), 10)
	b = appendMicros(append(b, `,"first_trade_at":`...), f.FirstTS)
	return appendMicros(append(b, `,"last_trade_at":`...), f.LastTS)
}

// basisName is what volumes count, "" if there are none.
func basisName(f *serving.Figures) string {
	if f.FirstTS == 0 {
		return ""
	}
	return string(f.Basis())
}

// outcomeCount is how many outcomes of m are known.
func outcomeCount(c *serving.Catalog, m *serving.Market) int {
	n := max(len(m.Outcomes), len(m.Payouts))
	for _, token := range c.Tokens(m.ID) {
		n = max(n, int(c.Token(token).Outcome)+1)
	}
	return n
}

// appendMarketOutcome writes wire.MarketOutcome.
func appendMarketOutcome(b []byte, c *serving.Catalog, m *serving.Market, outcome int8) []byte {
	b = appendText(append(b, `{"outcome":`...), c.LabelOf(m, outcome))
	b = strconv.AppendInt(append(b, `,"outcome_index":`...), int64(outcome), 10)
	id := ""
	for _, token := range c.Tokens(m.ID) {
		if ref := c.Token(token); ref.Outcome == outcome && id == "" {
			id = ref.ID
		}
	}
	b = appendText(append(b, `,"token_id":`...), id)
	b = appendFigure(append(b, `,"price":`...), c.OutcomePrice(m.ID, outcome))
	return append(appendPayout(append(b, `,"payout":`...), m, outcome), '}')
}

// appendResolution writes wire.MarketResolution, null for a market without one.
func appendResolution(b []byte, c *serving.Catalog, m *serving.Market, t *serving.MarketTexts) []byte {
	if !m.Resolved() {
		return append(b, "null"...)
	}
	winner := ""
	for i, p := range m.Payouts {
		if p == data.One {
			winner = c.LabelOf(m, int8(i))
		}
	}
	b = appendPayouts(append(b, `{"payouts":`...), m)
	b = appendText(append(b, `,"winner":`...), winner)
	b = appendResolvedAt(b, m.ResolvedTS, m.ResolvedBy)
	return append(appendText(append(b, `,"source":`...), t.PayoutSource.String()), '}')
}

// appendPayouts adds the payouts of a market, null if it is not resolved.
func appendPayouts(b []byte, m *serving.Market) []byte {
	if !m.Resolved() {
		return append(b, "null"...)
	}
	return appendRows(b, len(m.Payouts), func(b []byte, i int) []byte { return m.Payouts[i].Append(b) })
}

// appendMarketFill writes wire.MarketFill.
func appendMarketFill(b []byte, snap *serving.Snapshot, f *serving.Fill) []byte {
	token := snap.Catalog.Token(f.Token)
	b = appendMicros(append(b, `{"ts":`...), f.TS)
	b = appendHash(append(b, `,"transaction_hash":`...), &f.Tx)
	b = appendLogIndex(append(b, `,"log_index":`...), f.LogIndex)
	b = strconv.AppendInt(append(b, `,"ordinal":`...), ordinal(f), 10)
	b = appendWallet(append(b, ','), snap, f.Wallet)
	b = appendOutcome(b, snap.Catalog, token)
	b = append(append(append(b, `,"token_id":"`...), token.ID...), `","side":"`...)
	b = appendSide(b, f.Side)
	b = appendText(append(b, `","role":`...), roleName(f.Role))
	b = appendRatio(append(b, `,"price":`...), f.USD, f.Shares)
	b = f.Shares.Append(append(b, `,"shares":`...))
	b = f.USD.Append(append(b, `,"usd":`...))
	fee, asset := feeOf(f)
	b = fee.Append(append(b, `,"fee":`...))
	return append(append(append(b, `,"fee_asset":"`...), asset...), `"}`...)
}

// appendWallet adds the members that name a wallet.
func appendWallet(b []byte, snap *serving.Snapshot, wallet data.WalletID) []byte {
	address := snap.WalletAt(wallet)
	trader, _ := snap.Trader(address)
	b = address.Append(append(b, `"address":"`...))
	return appendText(append(b, `","username":`...), trader.Name)
}

// appendMarketSummary writes wire.MarketSummary.
func appendMarketSummary(b []byte, c *serving.Catalog, m *serving.Market) []byte {
	f := c.Figures(m.ID)
	b = appendMarketName(append(b, '{'), m)
	b = appendText(append(b, `,"category":`...), m.Category)
	b = append(append(append(b, `,"status":"`...), m.Status()...), `","outcomes":`...)
	b = appendTexts(b, m.Outcomes)
	b = appendPayouts(append(b, `,"payouts":`...), m)
	b = appendFigure(append(b, `,"price":`...), f.Price)
	b = appendFigure(append(b, `,"price_change_24h":`...), f.PriceChange24h)
	b = appendFigure(append(b, `,"spread":`...), f.Spread)
	b = appendFigure(append(b, `,"liquidity":`...), f.Liquidity)
	b = appendVolumes(append(b, ','), f)
	b = appendResolvedAt(b, resolvedTS(m), m.ResolvedBy)
	return append(appendMicros(append(b, `,"end_date":`...), m.EndTS), '}')
}

// appendResolvedAt adds when a market was resolved, and the source of that time.
func appendResolvedAt(b []byte, ts int64, by data.TimeSource) []byte {
	b = appendMicros(append(b, `,"resolved_at":`...), ts)
	if ts == 0 {
		by = data.TimeUnknown
	}
	return appendText(append(b, `,"resolved_at_source":`...), by.String())
}

// resolvedTS is when m was resolved, 0 if it was not.
func resolvedTS(m *serving.Market) int64 {
	if !m.Resolved() {
		return 0
	}
	return m.ResolvedTS
}
