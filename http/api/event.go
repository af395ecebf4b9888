package api

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"pmx/http/wire"
	"pmx/rollups/serving"
)

// eventReader is what the event endpoints read from the database.
type eventReader interface {
	// EventTraders returns the first n wallets that traded some markets, by imports of the snapshot, without the venue's own
	// wallets.
	EventTraders(ctx context.Context, s *serving.Snapshot, markets []int32, n int) (serving.EventTraders, error)
}

const (
	eventRows    = 200    // the most rows of a list about an event
	firstTraders = 250    // that are kept of an event if no more are requested
	maxOffset    = 10_000 // of offsetParam
)

// The parameters of the event endpoints.
var (
	eventKey    = &Param{Name: "event_id", InPath: true, Kind: Text, Min: 1, Max: 300, Doc: "id or slug of the event"}
	eventLimit  = limitParam("50", eventRows)
	eventOffset = offsetParam()
)

func eventRoutes() []Route {
	lists := []*Param{eventKey, eventLimit, eventOffset}
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/event/{event_id}", Section: wire.Event,
			Summary: "An event, with sums over its markets", serve: (*API).event, Reply: wire.One[wire.EventOverview]{},
			Params: []*Param{eventKey}, Codes: []string{"event_not_found"},
			Doc: "Texts come from the market with the newest description. `traders` counts each wallet once, no matter how many of " +
				"the markets it traded.",
		},
		{
			Method: fiber.MethodGet, Path: "/event/{event_id}/markets", Section: wire.Event, MaxRows: eventRows,
			Summary: "Markets of an event, by volume", serve: (*API).eventMarkets, Reply: wire.Ranked[wire.MarketSummary]{},
			Params: lists, Codes: []string{"event_not_found"},
			Doc: "Sorted by lifetime volume, ties by condition id. `price` is that of the first outcome.",
		},
		{
			Method: fiber.MethodGet, Path: "/event/{event_id}/traders", Section: wire.Event, MaxRows: eventRows,
			Summary: "Top traders of an event by real_pnl", serve: (*API).eventTraders, Reply: wire.Ranked[wire.EventTrader]{},
			Params: lists, Codes: []string{"event_not_found"},
			Doc: "Lifetime figures over the markets of the event, sorted by `real_pnl`, ties by volume, then address. `real_pnl` " +
				"includes the cash spent and received in markets that are not resolved, but not what their tokens may pay.",
		},
	}
}

// currentEvent returns the published snapshot, and in it the event that the path names.
func (a *API) currentEvent(call *Call) (*encodedSnapshot, *serving.Event, error) {
	v, err := a.current()
	if err != nil {
		return nil, nil, err
	}
	e := v.snap.Catalog.Event(call.value(eventKey).text)
	if e == nil {
		return nil, nil, missing("event_not_found", "No event with this id or slug is known. Check the id or slug.")
	}
	return v, e, nil
}

// event answers GET /event/{event_id}.
func (a *API) event(c *fiber.Ctx, call *Call) error {
	v, e, err := a.currentEvent(call)
	if err != nil {
		return err
	}
	mark, start := a.beginObject(call, v.asOf)
	call.buf = appendJSON(call.buf, eventOverview(e))
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// eventMarkets answers GET /event/{event_id}/markets.
func (a *API) eventMarkets(c *fiber.Ctx, call *Call) error {
	v, e, err := a.currentEvent(call)
	if err != nil {
		return err
	}
	cat := v.snap.Catalog
	return a.sendPage(c, call, v, len(e.Markets), func(b []byte, i int) []byte {
		return appendMarketSummary(b, cat, cat.Market(e.Markets[i]))
	})
}

// eventTraders answers GET /event/{event_id}/traders.
func (a *API) eventTraders(c *fiber.Ctx, call *Call) error {
	v, e, err := a.currentEvent(call)
	if err != nil {
		return err
	}
	t, err := a.tradersOf(v, e, call.number(eventOffset)+call.number(eventLimit))
	if err != nil {
		return err
	}
	return a.sendPage(c, call, v, t.Total, func(b []byte, i int) []byte { return appendEventTrader(b, v.snap, t.Rows, i) })
}

// tradersOf returns the first traders of an event: firstTraders of them or, if upTo is more, as
// many as any offset reaches. So an entry is small unless somebody reads far, and many can be kept.
func (a *API) tradersOf(v *encodedSnapshot, e *serving.Event, upTo int) (serving.EventTraders, error) {
	n := firstTraders
	if upTo > n {
		n = maxOffset + eventRows
	}
	return cachedRead(a, v, fmt.Sprintf("event %d %q %q", n, e.Slug, e.ID), func(ctx context.Context) (serving.EventTraders, error) {
		return a.reader.EventTraders(ctx, v.snap, e.Markets, n)
	})
}

// sendPage answers with the rows of a list of total that limit and offset ask for.
func (a *API) sendPage(c *fiber.Ctx, call *Call, v *encodedSnapshot, total int, row func(b []byte, i int) []byte) error {
	offset := call.number(eventOffset)
	e, n := call.listEnvelope(call.number(eventLimit), max(total-offset, 0))
	mark, start := a.beginReply(call, v.asOf, e)
	b := strconv.AppendInt(append(call.buf, `,"total":`...), int64(total), 10)
	call.buf = appendRows(append(b, `,"data":`...), n, func(b []byte, i int) []byte { return row(b, offset+i) })
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// eventOverview is the payload of GET /event/{event_id}.
func eventOverview(e *serving.Event) wire.EventOverview {
	return wire.EventOverview{
		EventID: textOrNull(e.ID), EventSlug: textOrNull(e.Slug), Title: textOrNull(e.Title), SeriesSlug: textOrNull(e.SeriesSlug),
		Category: textOrNull(e.Category), NegRisk: e.NegRisk, Status: string(e.Status()), StartDate: microsOrNull(e.StartTS), EndDate: microsOrNull(e.EndTS),
		Markets: len(e.Markets), OpenMarkets: e.Open, ClosedMarkets: e.Closed, ResolvedMarkets: e.Resolved,
		Volume: e.VolumeUSD, VolumeShares: e.VolumeShares, VolumeBasis: textOrNull(e.Basis()), Volume24h: e.Volume24h, Volume7d: e.Volume7d, Volume30d: e.Volume30d,
		Trades: e.Trades, Traders: int64(e.Traders), Liquidity: figureOrNull(e.Liquidity), FirstTradeAt: microsOrNull(e.FirstTS), LastTradeAt: microsOrNull(e.LastTS),
	}
}

// appendEventTrader writes wire.EventTrader of the i-th of rows.
func appendEventTrader(b []byte, snap *serving.Snapshot, rows []serving.EventTrader, i int) []byte {
	t, rank := &rows[i], i
	for rank > 0 && rows[rank-1].RealPnL() == t.RealPnL() {
		rank--
	}
	b = strconv.AppendInt(append(b, `{"rank":`...), int64(rank+1), 10)
	b = appendWallet(append(b, ','), snap, t.Wallet)
	b = t.RealPnL().Append(append(b, `,"real_pnl":`...))
	b = t.NetCash.Append(append(b, `,"net_cash":`...))
	b = t.Redemption.Append(append(b, `,"redemption_value":`...))
	b = t.Volume().Append(append(b, `,"volume":`...))
	b = t.BuyUSD.Append(append(b, `,"buy_volume_usd":`...))
	b = t.SellUSD.Append(append(b, `,"sell_volume_usd":`...))
	b = strconv.AppendInt(append(b, `,"trades":`...), t.Fills, 10)
	b = appendRatio(append(b, `,"roi":`...), t.RealPnL(), t.BuyUSD)
	b = strconv.AppendInt(append(b, `,"markets":`...), t.Markets, 10)
	b = strconv.AppendInt(append(b, `,"resolved_markets":`...), t.ResolvedMarkets, 10)
	b = strconv.AppendInt(append(b, `,"winning_markets":`...), t.WinningMarkets, 10)
	return append(b, '}')
}
