// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"

	"pmx/data"
	"pmx/http/wire"
)

// Health asks GET /health. Liveness and database reachability.
func (c *Client) Health(ctx context.Context) (*wire.One[wire.Health], error) {
	r := request{method: "GET", path: "/health"}
	return call[wire.One[wire.Health]](ctx, c, r)
}

// Status asks GET /status. Alias of /health.
func (c *Client) Status(ctx context.Context) (*wire.One[wire.Health], error) {
	r := request{method: "GET", path: "/status"}
	return call[wire.One[wire.Health]](ctx, c, r)
}

// StatusPublic asks GET /status/public. Freshness grade of every subsystem.
func (c *Client) StatusPublic(ctx context.Context) (*wire.One[wire.PublicStatus], error) {
	r := request{method: "GET", path: "/status/public"}
	return call[wire.One[wire.PublicStatus]](ctx, c, r)
}

// StatusHistoryParams are the optional parameters of StatusHistory; what is zero is left out.
type StatusHistoryParams struct {
	Days int64 // number of UTC days, the present one included
}

// StatusHistory asks GET /status/history. Grades of every subsystem by day, and what happened.
func (c *Client) StatusHistory(ctx context.Context, params StatusHistoryParams) (*wire.StatusHistory, error) {
	r := request{method: "GET", path: "/status/history", query: url.Values{}, header: http.Header{}}
	set(r.query, "days", params.Days)
	return call[wire.StatusHistory](ctx, c, r)
}

// TraderStats asks GET /trader/{address}/stats. Lifetime summary of a wallet.
func (c *Client) TraderStats(ctx context.Context, address string) (*wire.One[wire.TraderStats], error) {
	r := request{method: "GET", path: join("/trader/", address, "/stats")}
	return call[wire.One[wire.TraderStats]](ctx, c, r)
}

// TraderActivityDailyParams are the optional parameters of TraderActivityDaily; what is zero is left out.
type TraderActivityDailyParams struct {
	Limit int64 // number of newest days; the plan's history limit may reduce it
}

// TraderActivityDaily asks GET /trader/{address}/activity/daily. A wallet's figures by day, newest first.
func (c *Client) TraderActivityDaily(ctx context.Context, address string, params TraderActivityDailyParams) (*wire.Series[wire.WalletDay], error) {
	r := request{method: "GET", path: join("/trader/", address, "/activity/daily"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	return call[wire.Series[wire.WalletDay]](ctx, c, r)
}

// TraderMarketsParams are the optional parameters of TraderMarkets; what is zero is left out.
type TraderMarketsParams struct {
	Sort      string   // figure or time to sort by; abs_real_pnl is `real_pnl` without its sign
	Order     string   // desc: largest first; asc: smallest first; unknown values come last in both
	Status    []string // markets with this status; if repeated, with any of them
	Category  []string // markets of this category; if repeated, of any of them; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
	Positions string   // false: `positions` is null in every row, which makes them much shorter
	Limit     int64    // maximum number of rows; the plan's row limit may reduce it
	Cursor    string   // `next_cursor` of the previous page; all other parameters must stay the same
}

// TraderMarkets asks GET /trader/{address}/markets. Markets of a wallet, with its position and profit in each.
func (c *Client) TraderMarkets(ctx context.Context, address string, params TraderMarketsParams) (*wire.WalletMarkets, error) {
	r := request{method: "GET", path: join("/trader/", address, "/markets"), query: url.Values{}, header: http.Header{}}
	set(r.query, "sort", params.Sort)
	set(r.query, "order", params.Order)
	set(r.query, "status", params.Status)
	set(r.query, "category", params.Category)
	set(r.query, "positions", params.Positions)
	set(r.query, "limit", params.Limit)
	set(r.query, "cursor", params.Cursor)
	return call[wire.WalletMarkets](ctx, c, r)
}

// AllTraderMarkets reads every page of TraderMarkets, from params.Cursor on.
func (c *Client) AllTraderMarkets(ctx context.Context, address string, params TraderMarketsParams) iter.Seq2[wire.WalletMarket, error] {
	return eachRow(params.Cursor, func(cursor string) (*wire.WalletMarkets, error) {
		params := params
		params.Cursor = cursor
		return c.TraderMarkets(ctx, address, params)
	}, func(page *wire.WalletMarkets) ([]wire.WalletMarket, *string) { return page.Data, page.NextCursor })
}

// TraderCategories asks GET /trader/{address}/categories. A wallet's figures by category of market.
func (c *Client) TraderCategories(ctx context.Context, address string) (*wire.Series[wire.WalletCategory], error) {
	r := request{method: "GET", path: join("/trader/", address, "/categories")}
	return call[wire.Series[wire.WalletCategory]](ctx, c, r)
}

// TraderTradesParams are the optional parameters of TraderTrades; what is zero is left out.
type TraderTradesParams struct {
	Limit  int64  // maximum number of rows; the plan's row limit may reduce it
	Cursor string // `next_cursor` of the previous page; all other parameters must stay the same
}

// TraderTrades asks GET /trader/{address}/trades. Fills of a wallet, newest first.
func (c *Client) TraderTrades(ctx context.Context, address string, params TraderTradesParams) (*wire.Page[wire.Trade], error) {
	r := request{method: "GET", path: join("/trader/", address, "/trades"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	set(r.query, "cursor", params.Cursor)
	return call[wire.Page[wire.Trade]](ctx, c, r)
}

// AllTraderTrades reads every page of TraderTrades, from params.Cursor on.
func (c *Client) AllTraderTrades(ctx context.Context, address string, params TraderTradesParams) iter.Seq2[wire.Trade, error] {
	return eachRow(params.Cursor, func(cursor string) (*wire.Page[wire.Trade], error) {
		params := params
		params.Cursor = cursor
		return c.TraderTrades(ctx, address, params)
	}, func(page *wire.Page[wire.Trade]) ([]wire.Trade, *string) { return page.Data, page.NextCursor })
}

// TraderCompareParams are the optional parameters of TraderCompare; what is zero is left out.
type TraderCompareParams struct {
	Series string // daily: each row has `days` too
	Days   int64  // number of UTC days of `days`, up to that of as_of; the plan's history limit may reduce it
}

// TraderCompare asks GET /trader/compare. Lifetime summaries of wallets side by side.
func (c *Client) TraderCompare(ctx context.Context, address []string, params TraderCompareParams) (*wire.Series[wire.TraderComparison], error) {
	r := request{method: "GET", path: "/trader/compare", query: url.Values{}, header: http.Header{}}
	set(r.query, "address", address)
	set(r.query, "series", params.Series)
	set(r.query, "days", params.Days)
	return call[wire.Series[wire.TraderComparison]](ctx, c, r)
}

// LeaderboardTradersParams are the optional parameters of LeaderboardTraders; what is zero is left out.
type LeaderboardTradersParams struct {
	Period      string   // length of the rolling window, which ends at as_of
	Limit       int64    // maximum number of rows; the plan's row limit may reduce it
	Category    []string // markets of this category; if repeated, of any of them; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
	MinResolved int64    // wallets that ever traded at least this many markets that are resolved, of any category
	Sort        string   // figure of the period to rank by, largest first; a null `roi` comes last
	Offset      int64    // number of rows to skip
	Include     []string // what rows have besides, may be repeated: split is `resolved_pnl` and `unresolved_cash`
}

// LeaderboardTraders asks GET /leaderboard/traders. Top traders by real_pnl.
func (c *Client) LeaderboardTraders(ctx context.Context, params LeaderboardTradersParams) (*wire.Board[wire.TraderRow], error) {
	r := request{method: "GET", path: "/leaderboard/traders", query: url.Values{}, header: http.Header{}}
	set(r.query, "period", params.Period)
	set(r.query, "limit", params.Limit)
	set(r.query, "category", params.Category)
	set(r.query, "min_resolved", params.MinResolved)
	set(r.query, "sort", params.Sort)
	set(r.query, "offset", params.Offset)
	set(r.query, "include", params.Include)
	return call[wire.Board[wire.TraderRow]](ctx, c, r)
}

// LeaderboardMarketsParams are the optional parameters of LeaderboardMarkets; what is zero is left out.
type LeaderboardMarketsParams struct {
	Period string // length of the rolling window, which ends at as_of
	Limit  int64  // maximum number of rows; the plan's row limit may reduce it
}

// LeaderboardMarkets asks GET /leaderboard/markets. Top markets by volume.
func (c *Client) LeaderboardMarkets(ctx context.Context, params LeaderboardMarketsParams) (*wire.Board[wire.MarketRow], error) {
	r := request{method: "GET", path: "/leaderboard/markets", query: url.Values{}, header: http.Header{}}
	set(r.query, "period", params.Period)
	set(r.query, "limit", params.Limit)
	return call[wire.Board[wire.MarketRow]](ctx, c, r)
}

// MarketOverview asks GET /market/{condition_id}/overview. A market: description, figures, resolution and newest fills.
func (c *Client) MarketOverview(ctx context.Context, conditionID string) (*wire.One[wire.MarketOverview], error) {
	r := request{method: "GET", path: join("/market/", conditionID, "/overview")}
	return call[wire.One[wire.MarketOverview]](ctx, c, r)
}

// MarketCandlesParams are the optional parameters of MarketCandles; what is zero is left out.
type MarketCandlesParams struct {
	Interval string // length of the interval that a row covers
	Outcome  *int64 // `outcome_index` of the outcome to show; if omitted, all outcomes
	Limit    int64  // maximum number of rows; the plan's history limit may reduce it
	Cursor   string // `next_cursor` of the previous page; all other parameters must stay the same
}

// MarketCandles asks GET /market/{condition_id}/candles. Prices and volume of a market over time, newest first.
func (c *Client) MarketCandles(ctx context.Context, conditionID string, params MarketCandlesParams) (*wire.Candles, error) {
	r := request{method: "GET", path: join("/market/", conditionID, "/candles"), query: url.Values{}, header: http.Header{}}
	set(r.query, "interval", params.Interval)
	set(r.query, "outcome", params.Outcome)
	set(r.query, "limit", params.Limit)
	set(r.query, "cursor", params.Cursor)
	return call[wire.Candles](ctx, c, r)
}

// AllMarketCandles reads every page of MarketCandles, from params.Cursor on.
func (c *Client) AllMarketCandles(ctx context.Context, conditionID string, params MarketCandlesParams) iter.Seq2[wire.Candle, error] {
	return eachRow(params.Cursor, func(cursor string) (*wire.Candles, error) {
		params := params
		params.Cursor = cursor
		return c.MarketCandles(ctx, conditionID, params)
	}, func(page *wire.Candles) ([]wire.Candle, *string) { return page.Data, page.NextCursor })
}

// MarketHoldersParams are the optional parameters of MarketHolders; what is zero is left out.
type MarketHoldersParams struct {
	Outcome *int64 // `outcome_index` of the outcome to show; if omitted, all outcomes
	Side    string // long: wallets that bought more than they sold; short: wallets that sold more than they bought
	Limit   int64  // maximum number of rows; the plan's row limit may reduce it
	Offset  int64  // number of rows to skip
}

// MarketHolders asks GET /market/{condition_id}/holders. Largest holders of a market, by outcome tokens.
func (c *Client) MarketHolders(ctx context.Context, conditionID string, params MarketHoldersParams) (*wire.Holders, error) {
	r := request{method: "GET", path: join("/market/", conditionID, "/holders"), query: url.Values{}, header: http.Header{}}
	set(r.query, "outcome", params.Outcome)
	set(r.query, "side", params.Side)
	set(r.query, "limit", params.Limit)
	set(r.query, "offset", params.Offset)
	return call[wire.Holders](ctx, c, r)
}

// MarketTradesParams are the optional parameters of MarketTrades; what is zero is left out.
type MarketTradesParams struct {
	Limit  int64  // maximum number of rows; the plan's row limit may reduce it
	Cursor string // `next_cursor` of the previous page; all other parameters must stay the same
}

// MarketTrades asks GET /market/{condition_id}/trades. Fills of a market, newest first.
func (c *Client) MarketTrades(ctx context.Context, conditionID string, params MarketTradesParams) (*wire.Page[wire.MarketFill], error) {
	r := request{method: "GET", path: join("/market/", conditionID, "/trades"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	set(r.query, "cursor", params.Cursor)
	return call[wire.Page[wire.MarketFill]](ctx, c, r)
}

// AllMarketTrades reads every page of MarketTrades, from params.Cursor on.
func (c *Client) AllMarketTrades(ctx context.Context, conditionID string, params MarketTradesParams) iter.Seq2[wire.MarketFill, error] {
	return eachRow(params.Cursor, func(cursor string) (*wire.Page[wire.MarketFill], error) {
		params := params
		params.Cursor = cursor
		return c.MarketTrades(ctx, conditionID, params)
	}, func(page *wire.Page[wire.MarketFill]) ([]wire.MarketFill, *string) { return page.Data, page.NextCursor })
}

// TradesNewestParams are the optional parameters of TradesNewest; what is zero is left out.
type TradesNewestParams struct {
	Limit    int64  // maximum number of rows; the plan's row limit may reduce it
	MarketID string // condition id: only trades in this market, which need not be known yet
}

// TradesNewest asks GET /trades/newest. Trades of the last seconds, not final.
func (c *Client) TradesNewest(ctx context.Context, params TradesNewestParams) (*wire.NewestTrades, error) {
	r := request{method: "GET", path: "/trades/newest", query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	set(r.query, "market_id", params.MarketID)
	return call[wire.NewestTrades](ctx, c, r)
}

// MarketsSearchParams are the optional parameters of MarketsSearch; what is zero is left out.
type MarketsSearchParams struct {
	Category []string // markets of this category; if repeated, of any of them; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
	Status   []string // markets with this status; if repeated, with any of them
	Limit    int64    // maximum number of rows; the plan's row limit may reduce it
}

// MarketsSearch asks GET /markets/search. Search for markets by words of their titles.
func (c *Client) MarketsSearch(ctx context.Context, q string, params MarketsSearchParams) (*wire.MarketHits, error) {
	r := request{method: "GET", path: "/markets/search", query: url.Values{}, header: http.Header{}}
	set(r.query, "q", q)
	set(r.query, "category", params.Category)
	set(r.query, "status", params.Status)
	set(r.query, "limit", params.Limit)
	return call[wire.MarketHits](ctx, c, r)
}

// SearchParams are the optional parameters of Search; what is zero is left out.
type SearchParams struct {
	Kind  []string // kind to search for; if repeated, all of these; if omitted, all kinds
	Limit int64    // maximum number of rows of each kind
}

// Search asks GET /search. Search for events, markets, wallets and cities at once.
func (c *Client) Search(ctx context.Context, q string, params SearchParams) (*wire.Series[wire.Found], error) {
	r := request{method: "GET", path: "/search", query: url.Values{}, header: http.Header{}}
	set(r.query, "q", q)
	set(r.query, "kind", params.Kind)
	set(r.query, "limit", params.Limit)
	return call[wire.Series[wire.Found]](ctx, c, r)
}

// Event asks GET /event/{event_id}. An event, with sums over its markets.
func (c *Client) Event(ctx context.Context, eventID string) (*wire.One[wire.EventOverview], error) {
	r := request{method: "GET", path: join("/event/", eventID)}
	return call[wire.One[wire.EventOverview]](ctx, c, r)
}

// EventMarketsParams are the optional parameters of EventMarkets; what is zero is left out.
type EventMarketsParams struct {
	Limit  int64 // maximum number of rows; the plan's row limit may reduce it
	Offset int64 // number of rows to skip
}

// EventMarkets asks GET /event/{event_id}/markets. Markets of an event, by volume.
func (c *Client) EventMarkets(ctx context.Context, eventID string, params EventMarketsParams) (*wire.Ranked[wire.MarketSummary], error) {
	r := request{method: "GET", path: join("/event/", eventID, "/markets"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	set(r.query, "offset", params.Offset)
	return call[wire.Ranked[wire.MarketSummary]](ctx, c, r)
}

// EventTradersParams are the optional parameters of EventTraders; what is zero is left out.
type EventTradersParams struct {
	Limit  int64 // maximum number of rows; the plan's row limit may reduce it
	Offset int64 // number of rows to skip
}

// EventTraders asks GET /event/{event_id}/traders. Top traders of an event by real_pnl.
func (c *Client) EventTraders(ctx context.Context, eventID string, params EventTradersParams) (*wire.Ranked[wire.EventTrader], error) {
	r := request{method: "GET", path: join("/event/", eventID, "/traders"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	set(r.query, "offset", params.Offset)
	return call[wire.Ranked[wire.EventTrader]](ctx, c, r)
}

// Stats asks GET /stats. Figures of the whole venue.
func (c *Client) Stats(ctx context.Context) (*wire.One[wire.StatsOverview], error) {
	r := request{method: "GET", path: "/stats"}
	return call[wire.One[wire.StatsOverview]](ctx, c, r)
}

// StatsHourly asks GET /stats/hourly. The last 24 hours, hour by hour.
func (c *Client) StatsHourly(ctx context.Context) (*wire.StatsSeries[wire.StatsHour], error) {
	r := request{method: "GET", path: "/stats/hourly"}
	return call[wire.StatsSeries[wire.StatsHour]](ctx, c, r)
}

// StatsDailyParams are the optional parameters of StatsDaily; what is zero is left out.
type StatsDailyParams struct {
	Days int64 // number of newest days; the plan's history limit may reduce it
}

// StatsDaily asks GET /stats/daily. The venue day by day.
func (c *Client) StatsDaily(ctx context.Context, params StatsDailyParams) (*wire.StatsSeries[wire.StatsDay], error) {
	r := request{method: "GET", path: "/stats/daily", query: url.Values{}, header: http.Header{}}
	set(r.query, "days", params.Days)
	return call[wire.StatsSeries[wire.StatsDay]](ctx, c, r)
}

// StatsGrowthParams are the optional parameters of StatsGrowth; what is zero is left out.
type StatsGrowthParams struct {
	Days string // false: `days` is empty, which makes the reply much shorter
}

// StatsGrowth asks GET /stats/growth. Growth and trends.
func (c *Client) StatsGrowth(ctx context.Context, params StatsGrowthParams) (*wire.One[wire.StatsGrowth], error) {
	r := request{method: "GET", path: "/stats/growth", query: url.Values{}, header: http.Header{}}
	set(r.query, "days", params.Days)
	return call[wire.One[wire.StatsGrowth]](ctx, c, r)
}

// PmxIndex asks GET /pmx-index. The PMX index now.
func (c *Client) PmxIndex(ctx context.Context) (*wire.One[wire.PMXIndex], error) {
	r := request{method: "GET", path: "/pmx-index"}
	return call[wire.One[wire.PMXIndex]](ctx, c, r)
}

// PmxIndexHistoryParams are the optional parameters of PmxIndexHistory; what is zero is left out.
type PmxIndexHistoryParams struct {
	Interval string    // length of the interval that a row covers
	From     time.Time // rows that begin at this time or later; if omitted, the newest rows
	Limit    int64     // maximum number of rows: the first ones from `from` on or, without `from`, the newest
}

// PmxIndexHistory asks GET /pmx-index/{name}/history. History of an index.
func (c *Client) PmxIndexHistory(ctx context.Context, name string, params PmxIndexHistoryParams) (*wire.PMXHistory, error) {
	r := request{method: "GET", path: join("/pmx-index/", name, "/history"), query: url.Values{}, header: http.Header{}}
	set(r.query, "interval", params.Interval)
	set(r.query, "from", params.From)
	set(r.query, "limit", params.Limit)
	return call[wire.PMXHistory](ctx, c, r)
}

// PmxIndexHistoriesParams are the optional parameters of PmxIndexHistories; what is zero is left out.
type PmxIndexHistoriesParams struct {
	Name     []string  // index to show; if repeated, all of these; if omitted, all six
	Interval string    // length of the interval that a row covers
	From     time.Time // points that begin at this time or later; if omitted, the newest points
	Limit    int64     // maximum number of points of each index: the first ones from `from` on or, without `from`, the newest
}

// PmxIndexHistories asks GET /pmx-index/histories. Histories of several indices at once.
func (c *Client) PmxIndexHistories(ctx context.Context, params PmxIndexHistoriesParams) (*wire.PMXHistories, error) {
	r := request{method: "GET", path: "/pmx-index/histories", query: url.Values{}, header: http.Header{}}
	set(r.query, "name", params.Name)
	set(r.query, "interval", params.Interval)
	set(r.query, "from", params.From)
	set(r.query, "limit", params.Limit)
	return call[wire.PMXHistories](ctx, c, r)
}

// OracleLeaderboardParams are the optional parameters of OracleLeaderboard; what is zero is left out.
type OracleLeaderboardParams struct {
	MinResolved int64 // minimum number of forecasts for a wallet to be ranked
	Limit       int64 // maximum number of rows; the plan's row limit may reduce it
	Offset      int64 // number of rows to skip
}

// OracleLeaderboard asks GET /oracle/leaderboard. Top traders by forecasting accuracy.
func (c *Client) OracleLeaderboard(ctx context.Context, params OracleLeaderboardParams) (*wire.OracleBoard, error) {
	r := request{method: "GET", path: "/oracle/leaderboard", query: url.Values{}, header: http.Header{}}
	set(r.query, "min_resolved", params.MinResolved)
	set(r.query, "limit", params.Limit)
	set(r.query, "offset", params.Offset)
	return call[wire.OracleBoard](ctx, c, r)
}

// OracleTrader asks GET /oracle/trader/{address}. Forecasting accuracy of a wallet.
func (c *Client) OracleTrader(ctx context.Context, address string) (*wire.One[wire.OracleTrader], error) {
	r := request{method: "GET", path: join("/oracle/trader/", address)}
	return call[wire.One[wire.OracleTrader]](ctx, c, r)
}

// WhalesParams are the optional parameters of Whales; what is zero is left out.
type WhalesParams struct {
	Period string // length of the rolling window, which ends at as_of
	Limit  int64  // maximum number of rows; the plan's row limit may reduce it
}

// Whales asks GET /whales. Top wallets by large orders.
func (c *Client) Whales(ctx context.Context, params WhalesParams) (*wire.WhaleBoard, error) {
	r := request{method: "GET", path: "/whales", query: url.Values{}, header: http.Header{}}
	set(r.query, "period", params.Period)
	set(r.query, "limit", params.Limit)
	return call[wire.WhaleBoard](ctx, c, r)
}

// WhalesMovesParams are the optional parameters of WhalesMoves; what is zero is left out.
type WhalesMovesParams struct {
	Limit    int64       // maximum number of rows; the plan's row limit may reduce it
	Cursor   string      // `next_cursor` of the previous page; all other parameters must stay the same
	MinUSD   *data.Micro // only moves of at least this many USD; it must not be less than threshold_usd
	Side     string      // only buys or only sells
	MarketID string      // condition id: only moves in this market
	Address  string      // only moves of this wallet
	Category string      // only moves in markets of this category; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
}

// WhalesMoves asks GET /whales/moves. Recent large orders.
func (c *Client) WhalesMoves(ctx context.Context, params WhalesMovesParams) (*wire.WhaleMoves, error) {
	r := request{method: "GET", path: "/whales/moves", query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	set(r.query, "cursor", params.Cursor)
	set(r.query, "min_usd", params.MinUSD)
	set(r.query, "side", params.Side)
	set(r.query, "market_id", params.MarketID)
	set(r.query, "address", params.Address)
	set(r.query, "category", params.Category)
	return call[wire.WhaleMoves](ctx, c, r)
}

// AllWhalesMoves reads every page of WhalesMoves, from params.Cursor on.
func (c *Client) AllWhalesMoves(ctx context.Context, params WhalesMovesParams) iter.Seq2[wire.WhaleMove, error] {
	return eachRow(params.Cursor, func(cursor string) (*wire.WhaleMoves, error) {
		params := params
		params.Cursor = cursor
		return c.WhalesMoves(ctx, params)
	}, func(page *wire.WhaleMoves) ([]wire.WhaleMove, *string) { return page.Data, page.NextCursor })
}

// WhalesFlowParams are the optional parameters of WhalesFlow; what is zero is left out.
type WhalesFlowParams struct {
	MarketID string // condition id: only this market
	Period   string // length of the rolling window, which ends at as_of
	Interval string // length of the intervals of `series`; if omitted, `1h` of a period of 1d, `6h` of 7d, `1d` of 30d
	Limit    int64  // maximum number of rows; the plan's row limit may reduce it
}

// WhalesFlow asks GET /whales/flow. Net flow of large orders, by market.
func (c *Client) WhalesFlow(ctx context.Context, params WhalesFlowParams) (*wire.WhaleFlow, error) {
	r := request{method: "GET", path: "/whales/flow", query: url.Values{}, header: http.Header{}}
	set(r.query, "market_id", params.MarketID)
	set(r.query, "period", params.Period)
	set(r.query, "interval", params.Interval)
	set(r.query, "limit", params.Limit)
	return call[wire.WhaleFlow](ctx, c, r)
}

// ScreenerParams are the optional parameters of Screener; what is zero is left out.
type ScreenerParams struct {
	Q                 string      // words, or beginnings of words, in the title, the event's title or their slugs, in any order; all of them must match, and there must be at least one letter or digit
	Category          []string    // markets of this category; if repeated, of any of them; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
	ExcludeCategory   []string    // exclude markets of this category; may be repeated; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
	Tag               []string    // markets with this tag; if repeated, with any of them
	ExcludeTag        []string    // exclude markets with this tag; may be repeated
	Status            []string    // markets with this status; if repeated, with any of them
	EventID           string      // markets of this event, given by its id or slug
	NegRisk           string      // true: markets of events in which at most one market can win; false: other markets; a market for which this is unknown matches neither
	HasResolution     string      // true: markets whose payouts are known; false: all others
	EndsAfter         time.Time   // markets that end at this time or later
	EndsBefore        time.Time   // markets that end before this time
	CreatedAfter      time.Time   // markets created at this time or later
	CreatedBefore     time.Time   // markets created before this time
	MinVolume24h      *data.Micro // USD traded in the last 24 hours, at least
	MaxVolume24h      *data.Micro // USD traded in the last 24 hours, at most
	MinVolume7d       *data.Micro // USD traded in the last 168 hours, at least
	MaxVolume7d       *data.Micro // USD traded in the last 168 hours, at most
	MinVolume30d      *data.Micro // USD traded in the last 720 hours, at least
	MaxVolume30d      *data.Micro // USD traded in the last 720 hours, at most
	MinVolume         *data.Micro // USD traded since the first fill, at least
	MaxVolume         *data.Micro // USD traded since the first fill, at most
	MinLiquidity      *data.Micro // liquidity in USD, at least
	MaxLiquidity      *data.Micro // liquidity in USD, at most
	MinTraders24h     *int64      // distinct wallets that traded in the last 24 hours, at least
	MaxTraders24h     *int64      // distinct wallets that traded in the last 24 hours, at most
	MinTraders        *int64      // number of distinct wallets, at least
	MaxTraders        *int64      // number of distinct wallets, at most
	MinTrades         *int64      // fills, at least
	MaxTrades         *int64      // fills, at most
	MinPrice          *data.Micro // price of the first outcome, at least
	MaxPrice          *data.Micro // price of the first outcome, at most
	MinPriceChange24h *data.Micro // change of the price over 24 hours, at least
	MaxPriceChange24h *data.Micro // change of the price over 24 hours, at most
	MinWhaleFlow24h   *data.Micro // USD of whale moves of the last 24 hours towards the first outcome, minus those away from it, at least
	MaxWhaleFlow24h   *data.Micro // USD of whale moves of the last 24 hours towards the first outcome, minus those away from it, at most
	MinSpread         *data.Micro // best ask minus best bid, at least
	MaxSpread         *data.Micro // best ask minus best bid, at most
	Sort              string      // figure or time to sort by
	Order             string      // desc: largest first; asc: smallest first; unknown values come last in both
	Fields            []string    // members to return in each row, separated by commas; may be repeated
	Limit             int64       // maximum number of rows; the plan's row limit may reduce it
	Cursor            string      // `next_cursor` of the previous page; all other parameters must stay the same
}

// Screener asks GET /screener. Markets, filtered and sorted by their figures.
func (c *Client) Screener(ctx context.Context, params ScreenerParams) (*wire.Page[wire.ScreenerRow], error) {
	r := request{method: "GET", path: "/screener", query: url.Values{}, header: http.Header{}}
	set(r.query, "q", params.Q)
	set(r.query, "category", params.Category)
	set(r.query, "exclude_category", params.ExcludeCategory)
	set(r.query, "tag", params.Tag)
	set(r.query, "exclude_tag", params.ExcludeTag)
	set(r.query, "status", params.Status)
	set(r.query, "event_id", params.EventID)
	set(r.query, "neg_risk", params.NegRisk)
	set(r.query, "has_resolution", params.HasResolution)
	set(r.query, "ends_after", params.EndsAfter)
	set(r.query, "ends_before", params.EndsBefore)
	set(r.query, "created_after", params.CreatedAfter)
	set(r.query, "created_before", params.CreatedBefore)
	set(r.query, "min_volume_24h", params.MinVolume24h)
	set(r.query, "max_volume_24h", params.MaxVolume24h)
	set(r.query, "min_volume_7d", params.MinVolume7d)
	set(r.query, "max_volume_7d", params.MaxVolume7d)
	set(r.query, "min_volume_30d", params.MinVolume30d)
	set(r.query, "max_volume_30d", params.MaxVolume30d)
	set(r.query, "min_volume", params.MinVolume)
	set(r.query, "max_volume", params.MaxVolume)
	set(r.query, "min_liquidity", params.MinLiquidity)
	set(r.query, "max_liquidity", params.MaxLiquidity)
	set(r.query, "min_traders_24h", params.MinTraders24h)
	set(r.query, "max_traders_24h", params.MaxTraders24h)
	set(r.query, "min_traders", params.MinTraders)
	set(r.query, "max_traders", params.MaxTraders)
	set(r.query, "min_trades", params.MinTrades)
	set(r.query, "max_trades", params.MaxTrades)
	set(r.query, "min_price", params.MinPrice)
	set(r.query, "max_price", params.MaxPrice)
	set(r.query, "min_price_change_24h", params.MinPriceChange24h)
	set(r.query, "max_price_change_24h", params.MaxPriceChange24h)
	set(r.query, "min_whale_flow_24h", params.MinWhaleFlow24h)
	set(r.query, "max_whale_flow_24h", params.MaxWhaleFlow24h)
	set(r.query, "min_spread", params.MinSpread)
	set(r.query, "max_spread", params.MaxSpread)
	set(r.query, "sort", params.Sort)
	set(r.query, "order", params.Order)
	set(r.query, "fields", params.Fields)
	set(r.query, "limit", params.Limit)
	set(r.query, "cursor", params.Cursor)
	return call[wire.Page[wire.ScreenerRow]](ctx, c, r)
}

// AllScreener reads every page of Screener, from params.Cursor on.
func (c *Client) AllScreener(ctx context.Context, params ScreenerParams) iter.Seq2[wire.ScreenerRow, error] {
	return eachRow(params.Cursor, func(cursor string) (*wire.Page[wire.ScreenerRow], error) {
		params := params
		params.Cursor = cursor
		return c.Screener(ctx, params)
	}, func(page *wire.Page[wire.ScreenerRow]) ([]wire.ScreenerRow, *string) {
		return page.Data, page.NextCursor
	})
}

// ScreenerSummaryParams are the optional parameters of ScreenerSummary; what is zero is left out.
type ScreenerSummaryParams struct {
	Q                 string      // words, or beginnings of words, in the title, the event's title or their slugs, in any order; all of them must match, and there must be at least one letter or digit
	Category          []string    // markets of this category; if repeated, of any of them; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
	ExcludeCategory   []string    // exclude markets of this category; may be repeated; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
	Tag               []string    // markets with this tag; if repeated, with any of them
	ExcludeTag        []string    // exclude markets with this tag; may be repeated
	Status            []string    // markets with this status; if repeated, with any of them
	EventID           string      // markets of this event, given by its id or slug
	NegRisk           string      // true: markets of events in which at most one market can win; false: other markets; a market for which this is unknown matches neither
	HasResolution     string      // true: markets whose payouts are known; false: all others
	EndsAfter         time.Time   // markets that end at this time or later
	EndsBefore        time.Time   // markets that end before this time
	CreatedAfter      time.Time   // markets created at this time or later
	CreatedBefore     time.Time   // markets created before this time
	MinVolume24h      *data.Micro // USD traded in the last 24 hours, at least
	MaxVolume24h      *data.Micro // USD traded in the last 24 hours, at most
	MinVolume7d       *data.Micro // USD traded in the last 168 hours, at least
	MaxVolume7d       *data.Micro // USD traded in the last 168 hours, at most
	MinVolume30d      *data.Micro // USD traded in the last 720 hours, at least
	MaxVolume30d      *data.Micro // USD traded in the last 720 hours, at most
	MinVolume         *data.Micro // USD traded since the first fill, at least
	MaxVolume         *data.Micro // USD traded since the first fill, at most
	MinLiquidity      *data.Micro // liquidity in USD, at least
	MaxLiquidity      *data.Micro // liquidity in USD, at most
	MinTraders24h     *int64      // distinct wallets that traded in the last 24 hours, at least
	MaxTraders24h     *int64      // distinct wallets that traded in the last 24 hours, at most
	MinTraders        *int64      // number of distinct wallets, at least
	MaxTraders        *int64      // number of distinct wallets, at most
	MinTrades         *int64      // fills, at least
	MaxTrades         *int64      // fills, at most
	MinPrice          *data.Micro // price of the first outcome, at least
	MaxPrice          *data.Micro // price of the first outcome, at most
	MinPriceChange24h *data.Micro // change of the price over 24 hours, at least
	MaxPriceChange24h *data.Micro // change of the price over 24 hours, at most
	MinWhaleFlow24h   *data.Micro // USD of whale moves of the last 24 hours towards the first outcome, minus those away from it, at least
	MaxWhaleFlow24h   *data.Micro // USD of whale moves of the last 24 hours towards the first outcome, minus those away from it, at most
	MinSpread         *data.Micro // best ask minus best bid, at least
	MaxSpread         *data.Micro // best ask minus best bid, at most
}

// ScreenerSummary asks GET /screener/summary. Sums over the markets that match the screener's filters.
func (c *Client) ScreenerSummary(ctx context.Context, params ScreenerSummaryParams) (*wire.One[wire.ScreenerSummary], error) {
	r := request{method: "GET", path: "/screener/summary", query: url.Values{}, header: http.Header{}}
	set(r.query, "q", params.Q)
	set(r.query, "category", params.Category)
	set(r.query, "exclude_category", params.ExcludeCategory)
	set(r.query, "tag", params.Tag)
	set(r.query, "exclude_tag", params.ExcludeTag)
	set(r.query, "status", params.Status)
	set(r.query, "event_id", params.EventID)
	set(r.query, "neg_risk", params.NegRisk)
	set(r.query, "has_resolution", params.HasResolution)
	set(r.query, "ends_after", params.EndsAfter)
	set(r.query, "ends_before", params.EndsBefore)
	set(r.query, "created_after", params.CreatedAfter)
	set(r.query, "created_before", params.CreatedBefore)
	set(r.query, "min_volume_24h", params.MinVolume24h)
	set(r.query, "max_volume_24h", params.MaxVolume24h)
	set(r.query, "min_volume_7d", params.MinVolume7d)
	set(r.query, "max_volume_7d", params.MaxVolume7d)
	set(r.query, "min_volume_30d", params.MinVolume30d)
	set(r.query, "max_volume_30d", params.MaxVolume30d)
	set(r.query, "min_volume", params.MinVolume)
	set(r.query, "max_volume", params.MaxVolume)
	set(r.query, "min_liquidity", params.MinLiquidity)
	set(r.query, "max_liquidity", params.MaxLiquidity)
	set(r.query, "min_traders_24h", params.MinTraders24h)
	set(r.query, "max_traders_24h", params.MaxTraders24h)
	set(r.query, "min_traders", params.MinTraders)
	set(r.query, "max_traders", params.MaxTraders)
	set(r.query, "min_trades", params.MinTrades)
	set(r.query, "max_trades", params.MaxTrades)
	set(r.query, "min_price", params.MinPrice)
	set(r.query, "max_price", params.MaxPrice)
	set(r.query, "min_price_change_24h", params.MinPriceChange24h)
	set(r.query, "max_price_change_24h", params.MaxPriceChange24h)
	set(r.query, "min_whale_flow_24h", params.MinWhaleFlow24h)
	set(r.query, "max_whale_flow_24h", params.MaxWhaleFlow24h)
	set(r.query, "min_spread", params.MinSpread)
	set(r.query, "max_spread", params.MaxSpread)
	return call[wire.One[wire.ScreenerSummary]](ctx, c, r)
}

// ResearchDatasets asks GET /research/datasets. Datasets that can be exported, column by column.
func (c *Client) ResearchDatasets(ctx context.Context) (*wire.Catalogue, error) {
	r := request{method: "GET", path: "/research/datasets"}
	return call[wire.Catalogue](ctx, c, r)
}

// CreateResearchExportJobsParams are the optional parameters of CreateResearchExportJobs; what is zero is left out.
type CreateResearchExportJobsParams struct {
	IdempotencyKey string // any text of your choice; repeating the request with the same text returns the job that the first request created
}

// CreateResearchExportJobs asks POST /research/export-jobs. Export a dataset as a file.
func (c *Client) CreateResearchExportJobs(ctx context.Context, body wire.ResearchExport, params CreateResearchExportJobsParams) (*wire.One[*wire.ExportJob], error) {
	r := request{method: "POST", path: "/research/export-jobs", query: url.Values{}, header: http.Header{}}
	set(url.Values(r.header), "Idempotency-Key", params.IdempotencyKey)
	r.body = body
	return call[wire.One[*wire.ExportJob]](ctx, c, r)
}

// CreateTraderExportJobsParams are the optional parameters of CreateTraderExportJobs; what is zero is left out.
type CreateTraderExportJobsParams struct {
	IdempotencyKey string // any text of your choice; repeating the request with the same text returns the job that the first request created
}

// CreateTraderExportJobs asks POST /trader/{address}/export-jobs. Export everything about a wallet as a zip.
func (c *Client) CreateTraderExportJobs(ctx context.Context, address string, body *wire.TraderExport, params CreateTraderExportJobsParams) (*wire.One[*wire.ExportJob], error) {
	r := request{method: "POST", path: join("/trader/", address, "/export-jobs"), query: url.Values{}, header: http.Header{}}
	set(url.Values(r.header), "Idempotency-Key", params.IdempotencyKey)
	if body != nil {
		r.body = body
	}
	return call[wire.One[*wire.ExportJob]](ctx, c, r)
}

// ResearchExportJobs asks GET /research/export-jobs/{job_id}. State of an export job.
func (c *Client) ResearchExportJobs(ctx context.Context, jobID string) (*wire.One[wire.ExportJob], error) {
	r := request{method: "GET", path: join("/research/export-jobs/", jobID)}
	return call[wire.One[wire.ExportJob]](ctx, c, r)
}

// DeleteResearchExportJobs asks DELETE /research/export-jobs/{job_id}. Cancel an export job, or delete its file.
func (c *Client) DeleteResearchExportJobs(ctx context.Context, jobID string) (*wire.One[wire.ExportJob], error) {
	r := request{method: "DELETE", path: join("/research/export-jobs/", jobID)}
	return call[wire.One[wire.ExportJob]](ctx, c, r)
}

// ResearchExportJobsDownload asks GET /research/export-jobs/{job_id}/download. File of a finished export job.
func (c *Client) ResearchExportJobsDownload(ctx context.Context, jobID string) (*File, error) {
	r := request{method: "GET", path: join("/research/export-jobs/", jobID, "/download")}
	return download(ctx, c, r)
}

// TraderExportJobs asks GET /trader/export-jobs/{job_id}. State of an export job.
func (c *Client) TraderExportJobs(ctx context.Context, jobID string) (*wire.One[wire.ExportJob], error) {
	r := request{method: "GET", path: join("/trader/export-jobs/", jobID)}
	return call[wire.One[wire.ExportJob]](ctx, c, r)
}

// DeleteTraderExportJobs asks DELETE /trader/export-jobs/{job_id}. Cancel an export job, or delete its file.
func (c *Client) DeleteTraderExportJobs(ctx context.Context, jobID string) (*wire.One[wire.ExportJob], error) {
	r := request{method: "DELETE", path: join("/trader/export-jobs/", jobID)}
	return call[wire.One[wire.ExportJob]](ctx, c, r)
}

// TraderExportJobsDownload asks GET /trader/export-jobs/{job_id}/download. File of a finished export job.
func (c *Client) TraderExportJobsDownload(ctx context.Context, jobID string) (*File, error) {
	r := request{method: "GET", path: join("/trader/export-jobs/", jobID, "/download")}
	return download(ctx, c, r)
}

// WeatherCities asks GET /weather/cities. All cities of the weather desk.
func (c *Client) WeatherCities(ctx context.Context) (*wire.WeatherCities, error) {
	r := request{method: "GET", path: "/weather/cities"}
	return call[wire.WeatherCities](ctx, c, r)
}

// WeatherCity asks GET /weather/city/{city}. One city of the weather desk.
func (c *Client) WeatherCity(ctx context.Context, city string) (*wire.One[wire.WeatherCityCard], error) {
	r := request{method: "GET", path: join("/weather/city/", city)}
	return call[wire.One[wire.WeatherCityCard]](ctx, c, r)
}

// WeatherCityMarketsParams are the optional parameters of WeatherCityMarkets; what is zero is left out.
type WeatherCityMarketsParams struct {
	Date   string // only events of this local day of the city
	Metric string // only highest or only lowest temperatures
	Limit  int64  // maximum number of rows; the plan's row limit may reduce it
}

// WeatherCityMarkets asks GET /weather/city/{city}/markets. Brackets that can be traded.
func (c *Client) WeatherCityMarkets(ctx context.Context, city string, params WeatherCityMarketsParams) (*wire.WeatherMarkets, error) {
	r := request{method: "GET", path: join("/weather/city/", city, "/markets"), query: url.Values{}, header: http.Header{}}
	set(r.query, "date", params.Date)
	set(r.query, "metric", params.Metric)
	set(r.query, "limit", params.Limit)
	return call[wire.WeatherMarkets](ctx, c, r)
}

// WeatherBotBundleParams are the optional parameters of WeatherBotBundle; what is zero is left out.
type WeatherBotBundleParams struct {
	Cities    []string    // only these cities: slugs or other names, separated by commas or in repeated parameters; an unknown name is an error
	Date      string      // only events of this local day of their cities
	Metric    string      // only highest or only lowest temperatures
	MinVolume *data.Micro // only events with at least this lifetime volume in USD
	Include   string      // ids: also return the condition and token ids of the brackets
}

// WeatherBotBundle asks GET /weather/bot-bundle. The weather desk in compact form, for bots.
func (c *Client) WeatherBotBundle(ctx context.Context, params WeatherBotBundleParams) (*wire.WeatherBundle, error) {
	r := request{method: "GET", path: "/weather/bot-bundle", query: url.Values{}, header: http.Header{}}
	set(r.query, "cities", params.Cities)
	set(r.query, "date", params.Date)
	set(r.query, "metric", params.Metric)
	set(r.query, "min_volume", params.MinVolume)
	set(r.query, "include", params.Include)
	return call[wire.WeatherBundle](ctx, c, r)
}

// WeatherCityForecastParams are the optional parameters of WeatherCityForecast; what is zero is left out.
type WeatherCityForecastParams struct {
	Date   string // only this day of the city's calendar, which may be in the past
	Days   int64  // number of days, starting with the city's today
	Metric string // only highs or only lows
	Source string // only this source, given by its name
}

// WeatherCityForecast asks GET /weather/city/{city}/forecast. Multi-source TMAX/TMIN forecast time series.
func (c *Client) WeatherCityForecast(ctx context.Context, city string, params WeatherCityForecastParams) (*wire.CityForecast, error) {
	r := request{method: "GET", path: join("/weather/city/", city, "/forecast"), query: url.Values{}, header: http.Header{}}
	set(r.query, "date", params.Date)
	set(r.query, "days", params.Days)
	set(r.query, "metric", params.Metric)
	set(r.query, "source", params.Source)
	return call[wire.CityForecast](ctx, c, r)
}

// WeatherCityActualsParams are the optional parameters of WeatherCityActuals; what is zero is left out.
type WeatherCityActualsParams struct {
	Limit  int64  // number of newest days that have data; the plan's history limit may reduce it
	Kind   string // only this kind
	Metric string // only highs or only lows
	Source string // only this source, given by its name
}

// WeatherCityActuals asks GET /weather/city/{city}/actuals. Observed daily highs and lows.
func (c *Client) WeatherCityActuals(ctx context.Context, city string, params WeatherCityActualsParams) (*wire.CityActuals, error) {
	r := request{method: "GET", path: join("/weather/city/", city, "/actuals"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	set(r.query, "kind", params.Kind)
	set(r.query, "metric", params.Metric)
	set(r.query, "source", params.Source)
	return call[wire.CityActuals](ctx, c, r)
}

// WeatherCityAnomaliesParams are the optional parameters of WeatherCityAnomalies; what is zero is left out.
type WeatherCityAnomaliesParams struct {
	Limit  int64  // number of newest days that have data; the plan's history limit may reduce it
	Metric string // only highs or only lows
	Basis  string // only measurements or only forecasts
	Kind   string // only actuals of this kind, without forecasts
	Source string // only this source, given by its name
}

// WeatherCityAnomalies asks GET /weather/city/{city}/anomalies. Deviation versus climate normals.
func (c *Client) WeatherCityAnomalies(ctx context.Context, city string, params WeatherCityAnomaliesParams) (*wire.CityAnomalies, error) {
	r := request{method: "GET", path: join("/weather/city/", city, "/anomalies"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	set(r.query, "metric", params.Metric)
	set(r.query, "basis", params.Basis)
	set(r.query, "kind", params.Kind)
	set(r.query, "source", params.Source)
	return call[wire.CityAnomalies](ctx, c, r)
}

// WeatherForecastEvolutionParams are the optional parameters of WeatherForecastEvolution; what is zero is left out.
type WeatherForecastEvolutionParams struct {
	Metric string // the day's highest or lowest temperature
	Source string // only this source, given by its name
	Limit  int64  // number of newest changes to return; the figures cover all changes
}

// WeatherForecastEvolution asks GET /weather/forecast-evolution/{city}/{date}. How the forecast for a date changed over time.
func (c *Client) WeatherForecastEvolution(ctx context.Context, city string, date string, params WeatherForecastEvolutionParams) (*wire.ForecastEvolution, error) {
	r := request{method: "GET", path: join("/weather/forecast-evolution/", city, "/", date), query: url.Values{}, header: http.Header{}}
	set(r.query, "metric", params.Metric)
	set(r.query, "source", params.Source)
	set(r.query, "limit", params.Limit)
	return call[wire.ForecastEvolution](ctx, c, r)
}

// WeatherCityObservationsParams are the optional parameters of WeatherCityObservations; what is zero is left out.
type WeatherCityObservationsParams struct {
	Date   string // a local day of the city, YYYY-MM-DD; if omitted, the city's present day
	Source string // only this source, given by its name
	Limit  int64  // number of newest observations to return; running values cover all
}

// WeatherCityObservations asks GET /weather/city/{city}/observations. Single temperatures of a day, as stations reported them.
func (c *Client) WeatherCityObservations(ctx context.Context, city string, params WeatherCityObservationsParams) (*wire.Observations, error) {
	r := request{method: "GET", path: join("/weather/city/", city, "/observations"), query: url.Values{}, header: http.Header{}}
	set(r.query, "date", params.Date)
	set(r.query, "source", params.Source)
	set(r.query, "limit", params.Limit)
	return call[wire.Observations](ctx, c, r)
}

// WeatherCityImpliedParams are the optional parameters of WeatherCityImplied; what is zero is left out.
type WeatherCityImpliedParams struct {
	Date    string // a local day of the city, YYYY-MM-DD; if omitted, the city's present day
	Metric  string // the event on the day's highest or lowest temperature
	Limit   int64  // number of newest hours to return; prices of earlier ones count
	Include string // prices: rows have the price of each bracket too
}

// WeatherCityImplied asks GET /weather/city/{city}/implied. What the market expected of a day, over time.
func (c *Client) WeatherCityImplied(ctx context.Context, city string, params WeatherCityImpliedParams) (*wire.Implied, error) {
	r := request{method: "GET", path: join("/weather/city/", city, "/implied"), query: url.Values{}, header: http.Header{}}
	set(r.query, "date", params.Date)
	set(r.query, "metric", params.Metric)
	set(r.query, "limit", params.Limit)
	set(r.query, "include", params.Include)
	return call[wire.Implied](ctx, c, r)
}

// WeatherTradersParams are the optional parameters of WeatherTraders; what is zero is left out.
type WeatherTradersParams struct {
	Sort  string // figure to rank by, largest first
	Limit int64  // maximum number of rows; the plan's row limit may reduce it
}

// WeatherTraders asks GET /weather/traders. Top traders of the weather desk.
func (c *Client) WeatherTraders(ctx context.Context, params WeatherTradersParams) (*wire.WeatherTraders, error) {
	r := request{method: "GET", path: "/weather/traders", query: url.Values{}, header: http.Header{}}
	set(r.query, "sort", params.Sort)
	set(r.query, "limit", params.Limit)
	return call[wire.WeatherTraders](ctx, c, r)
}

// Me asks GET /me. Your key: plan, limits, remaining requests, and usage.
func (c *Client) Me(ctx context.Context) (*wire.Undated[wire.Account], error) {
	r := request{method: "GET", path: "/me"}
	return call[wire.Undated[wire.Account]](ctx, c, r)
}
