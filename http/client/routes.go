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

// TraderStats asks GET /trader/{address}/stats. Lifetime summary of a wallet.
func (c *Client) TraderStats(ctx context.Context, address string) (*wire.One[wire.TraderStats], error) {
	r := request{method: "GET", path: join("/trader/", address, "/stats")}
	return call[wire.One[wire.TraderStats]](ctx, c, r)
}

// TraderActivityDailyParams are the optional parameters of TraderActivityDaily; what is zero is left out.
type TraderActivityDailyParams struct {
	Limit int64 // days wanted, the newest; the plan's history cap may trim them
}

// TraderActivityDaily asks GET /trader/{address}/activity/daily. What a wallet did day by day, newest first.
func (c *Client) TraderActivityDaily(ctx context.Context, address string, params TraderActivityDailyParams) (*wire.Series[wire.WalletDay], error) {
	r := request{method: "GET", path: join("/trader/", address, "/activity/daily"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	return call[wire.Series[wire.WalletDay]](ctx, c, r)
}

// TraderMarketsParams are the optional parameters of TraderMarkets; what is zero is left out.
type TraderMarketsParams struct {
	Limit int64 // rows wanted; the plan's row cap may trim it
}

// TraderMarkets asks GET /trader/{address}/markets. Markets of a wallet by its volume in them.
func (c *Client) TraderMarkets(ctx context.Context, address string, params TraderMarketsParams) (*wire.WalletMarkets, error) {
	r := request{method: "GET", path: join("/trader/", address, "/markets"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	return call[wire.WalletMarkets](ctx, c, r)
}

// TraderTradesParams are the optional parameters of TraderTrades; what is zero is left out.
type TraderTradesParams struct {
	Limit  int64  // rows wanted; the plan's row cap may trim it
	Cursor string // next_cursor of the page before, with the same other parameters
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

// TraderCompare asks GET /trader/compare. Lifetime summaries of wallets side by side.
func (c *Client) TraderCompare(ctx context.Context, address []string) (*wire.Series[wire.TraderComparison], error) {
	r := request{method: "GET", path: "/trader/compare", query: url.Values{}, header: http.Header{}}
	set(r.query, "address", address)
	return call[wire.Series[wire.TraderComparison]](ctx, c, r)
}

// LeaderboardTradersParams are the optional parameters of LeaderboardTraders; what is zero is left out.
type LeaderboardTradersParams struct {
	Period string // rolling window that ends at as_of
	Limit  int64  // rows wanted; the plan's row cap may trim it
}

// LeaderboardTraders asks GET /leaderboard/traders. Top traders by real_pnl.
func (c *Client) LeaderboardTraders(ctx context.Context, params LeaderboardTradersParams) (*wire.Board[wire.TraderRow], error) {
	r := request{method: "GET", path: "/leaderboard/traders", query: url.Values{}, header: http.Header{}}
	set(r.query, "period", params.Period)
	set(r.query, "limit", params.Limit)
	return call[wire.Board[wire.TraderRow]](ctx, c, r)
}

// LeaderboardMarketsParams are the optional parameters of LeaderboardMarkets; what is zero is left out.
type LeaderboardMarketsParams struct {
	Period string // rolling window that ends at as_of
	Limit  int64  // rows wanted; the plan's row cap may trim it
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

// MarketsSearchParams are the optional parameters of MarketsSearch; what is zero is left out.
type MarketsSearchParams struct {
	Category []string // markets of this category; repeated: of any of them; letter case does not count. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; what is none of them is an error that lists them
	Status   []string // markets in this state; repeated: in any of them
	Limit    int64    // rows wanted; the plan's row cap may trim it
}

// MarketsSearch asks GET /markets/search. Markets by the words of their titles.
func (c *Client) MarketsSearch(ctx context.Context, q string, params MarketsSearchParams) (*wire.MarketHits, error) {
	r := request{method: "GET", path: "/markets/search", query: url.Values{}, header: http.Header{}}
	set(r.query, "q", q)
	set(r.query, "category", params.Category)
	set(r.query, "status", params.Status)
	set(r.query, "limit", params.Limit)
	return call[wire.MarketHits](ctx, c, r)
}

// Event asks GET /event/{event_id}. An event and the sums of its markets.
func (c *Client) Event(ctx context.Context, eventID string) (*wire.One[wire.EventOverview], error) {
	r := request{method: "GET", path: join("/event/", eventID)}
	return call[wire.One[wire.EventOverview]](ctx, c, r)
}

// EventMarketsParams are the optional parameters of EventMarkets; what is zero is left out.
type EventMarketsParams struct {
	Limit  int64 // rows wanted; the plan's row cap may trim it
	Offset int64 // rows to skip
}

// EventMarkets asks GET /event/{event_id}/markets. Markets of an event by volume.
func (c *Client) EventMarkets(ctx context.Context, eventID string, params EventMarketsParams) (*wire.Ranked[wire.MarketSummary], error) {
	r := request{method: "GET", path: join("/event/", eventID, "/markets"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	set(r.query, "offset", params.Offset)
	return call[wire.Ranked[wire.MarketSummary]](ctx, c, r)
}

// EventTradersParams are the optional parameters of EventTraders; what is zero is left out.
type EventTradersParams struct {
	Limit  int64 // rows wanted; the plan's row cap may trim it
	Offset int64 // rows to skip
}

// EventTraders asks GET /event/{event_id}/traders. Top traders of an event by real_pnl.
func (c *Client) EventTraders(ctx context.Context, eventID string, params EventTradersParams) (*wire.Ranked[wire.EventTrader], error) {
	r := request{method: "GET", path: join("/event/", eventID, "/traders"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	set(r.query, "offset", params.Offset)
	return call[wire.Ranked[wire.EventTrader]](ctx, c, r)
}

// Stats asks GET /stats. The whole venue in numbers.
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
	Days int64 // days wanted, the newest; the plan's history cap may trim them
}

// StatsDaily asks GET /stats/daily. The venue day by day.
func (c *Client) StatsDaily(ctx context.Context, params StatsDailyParams) (*wire.StatsSeries[wire.StatsDay], error) {
	r := request{method: "GET", path: "/stats/daily", query: url.Values{}, header: http.Header{}}
	set(r.query, "days", params.Days)
	return call[wire.StatsSeries[wire.StatsDay]](ctx, c, r)
}

// StatsGrowth asks GET /stats/growth. Growth and trends.
func (c *Client) StatsGrowth(ctx context.Context) (*wire.One[wire.StatsGrowth], error) {
	r := request{method: "GET", path: "/stats/growth"}
	return call[wire.One[wire.StatsGrowth]](ctx, c, r)
}

// PmxIndex asks GET /pmx-index. The PMX index now.
func (c *Client) PmxIndex(ctx context.Context) (*wire.One[wire.PMXIndex], error) {
	r := request{method: "GET", path: "/pmx-index"}
	return call[wire.One[wire.PMXIndex]](ctx, c, r)
}

// PmxIndexHistoryParams are the optional parameters of PmxIndexHistory; what is zero is left out.
type PmxIndexHistoryParams struct {
	Interval string    // length of a row
	From     time.Time // rows that begin at this time or later; left out: the newest rows
	Limit    int64     // rows wanted: the first ones from `from` on, else the newest
}

// PmxIndexHistory asks GET /pmx-index/{name}/history. How an index moved.
func (c *Client) PmxIndexHistory(ctx context.Context, name string, params PmxIndexHistoryParams) (*wire.PMXHistory, error) {
	r := request{method: "GET", path: join("/pmx-index/", name, "/history"), query: url.Values{}, header: http.Header{}}
	set(r.query, "interval", params.Interval)
	set(r.query, "from", params.From)
	set(r.query, "limit", params.Limit)
	return call[wire.PMXHistory](ctx, c, r)
}

// OracleLeaderboardParams are the optional parameters of OracleLeaderboard; what is zero is left out.
type OracleLeaderboardParams struct {
	MinResolved int64 // forecasts that a wallet needs to be ranked
	Limit       int64 // rows wanted; the plan's row cap may trim it
	Offset      int64 // rows to skip
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
	Period string // rolling window that ends at as_of
	Limit  int64  // rows wanted; the plan's row cap may trim it
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
	Limit    int64       // rows wanted; the plan's row cap may trim it
	Cursor   string      // next_cursor of the page before, with the same other parameters
	MinUSD   *data.Micro // moves of at least so many dollars; no less than threshold_usd
	Side     string      // buys or sells alone
	MarketID string      // condition id: moves of this market alone
	Address  string      // moves of this wallet alone
	Category string      // moves of markets of this category alone; letter case does not count. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; what is none of them is an error that lists them
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
	MarketID string // condition id: this market alone
	Period   string // rolling window that ends at as_of
	Limit    int64  // rows wanted; the plan's row cap may trim it
}

// WhalesFlow asks GET /whales/flow. Where large orders move the money.
func (c *Client) WhalesFlow(ctx context.Context, params WhalesFlowParams) (*wire.WhaleFlow, error) {
	r := request{method: "GET", path: "/whales/flow", query: url.Values{}, header: http.Header{}}
	set(r.query, "market_id", params.MarketID)
	set(r.query, "period", params.Period)
	set(r.query, "limit", params.Limit)
	return call[wire.WhaleFlow](ctx, c, r)
}

// ScreenerParams are the optional parameters of Screener; what is zero is left out.
type ScreenerParams struct {
	Q                 string      // words, or beginnings of words, of the title, the event or their slugs, in any order; all of them must be there, and at least one letter or digit
	Category          []string    // markets of this category; repeated: of any of them; letter case does not count. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; what is none of them is an error that lists them
	ExcludeCategory   []string    // leave the markets of this category out; may be repeated; letter case does not count. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; what is none of them is an error that lists them
	Tag               []string    // markets with this tag; repeated: with any of them
	ExcludeTag        []string    // leave the markets with this tag out; may be repeated
	Status            []string    // markets in this state; repeated: in any of them
	EventID           string      // markets of this event, named by its id or slug
	NegRisk           string      // markets that are (true) or are not (false) of an event of which at most one can win; neither has those of which that is not known
	HasResolution     string      // markets whose payouts are (true) or are not (false) known
	EndsAfter         time.Time   // markets that end at this time or later
	EndsBefore        time.Time   // markets that end before this time
	CreatedAfter      time.Time   // markets made at this time or later
	CreatedBefore     time.Time   // markets made before this time
	MinVolume24h      *data.Micro // USD traded in the last 24 hours, at least
	MaxVolume24h      *data.Micro // USD traded in the last 24 hours, at most
	MinVolume7d       *data.Micro // USD traded in the last 168 hours, at least
	MaxVolume7d       *data.Micro // USD traded in the last 168 hours, at most
	MinVolume30d      *data.Micro // USD traded in the last 720 hours, at least
	MaxVolume30d      *data.Micro // USD traded in the last 720 hours, at most
	MinVolume         *data.Micro // USD traded since the first fill, at least
	MaxVolume         *data.Micro // USD traded since the first fill, at most
	MinLiquidity      *data.Micro // USD in the book, at least
	MaxLiquidity      *data.Micro // USD in the book, at most
	MinTraders24h     *int64      // distinct wallets of the last 24 hours, at least
	MaxTraders24h     *int64      // distinct wallets of the last 24 hours, at most
	MinTraders        *int64      // distinct wallets, at least
	MaxTraders        *int64      // distinct wallets, at most
	MinTrades         *int64      // fills, at least
	MaxTrades         *int64      // fills, at most
	MinPrice          *data.Micro // price of the first outcome, at least
	MaxPrice          *data.Micro // price of the first outcome, at most
	MinPriceChange24h *data.Micro // change of the price in 24 hours, at least
	MaxPriceChange24h *data.Micro // change of the price in 24 hours, at most
	MinWhaleFlow24h   *data.Micro // USD of whale moves of the last 24 hours towards the first outcome less those away from it, at least
	MaxWhaleFlow24h   *data.Micro // USD of whale moves of the last 24 hours towards the first outcome less those away from it, at most
	MinSpread         *data.Micro // best ask less best bid, at least
	MaxSpread         *data.Micro // best ask less best bid, at most
	Sort              string      // figure or time to sort by
	Order             string      // greatest or least first; what is not known comes last in either
	Fields            []string    // members wanted of each row, separated by commas; may be repeated
	Limit             int64       // rows wanted; the plan's row cap may trim it
	Cursor            string      // next_cursor of the page before, with the same other parameters
}

// Screener asks GET /screener. Markets by any of their figures.
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
	Q                 string      // words, or beginnings of words, of the title, the event or their slugs, in any order; all of them must be there, and at least one letter or digit
	Category          []string    // markets of this category; repeated: of any of them; letter case does not count. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; what is none of them is an error that lists them
	ExcludeCategory   []string    // leave the markets of this category out; may be repeated; letter case does not count. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; what is none of them is an error that lists them
	Tag               []string    // markets with this tag; repeated: with any of them
	ExcludeTag        []string    // leave the markets with this tag out; may be repeated
	Status            []string    // markets in this state; repeated: in any of them
	EventID           string      // markets of this event, named by its id or slug
	NegRisk           string      // markets that are (true) or are not (false) of an event of which at most one can win; neither has those of which that is not known
	HasResolution     string      // markets whose payouts are (true) or are not (false) known
	EndsAfter         time.Time   // markets that end at this time or later
	EndsBefore        time.Time   // markets that end before this time
	CreatedAfter      time.Time   // markets made at this time or later
	CreatedBefore     time.Time   // markets made before this time
	MinVolume24h      *data.Micro // USD traded in the last 24 hours, at least
	MaxVolume24h      *data.Micro // USD traded in the last 24 hours, at most
	MinVolume7d       *data.Micro // USD traded in the last 168 hours, at least
	MaxVolume7d       *data.Micro // USD traded in the last 168 hours, at most
	MinVolume30d      *data.Micro // USD traded in the last 720 hours, at least
	MaxVolume30d      *data.Micro // USD traded in the last 720 hours, at most
	MinVolume         *data.Micro // USD traded since the first fill, at least
	MaxVolume         *data.Micro // USD traded since the first fill, at most
	MinLiquidity      *data.Micro // USD in the book, at least
	MaxLiquidity      *data.Micro // USD in the book, at most
	MinTraders24h     *int64      // distinct wallets of the last 24 hours, at least
	MaxTraders24h     *int64      // distinct wallets of the last 24 hours, at most
	MinTraders        *int64      // distinct wallets, at least
	MaxTraders        *int64      // distinct wallets, at most
	MinTrades         *int64      // fills, at least
	MaxTrades         *int64      // fills, at most
	MinPrice          *data.Micro // price of the first outcome, at least
	MaxPrice          *data.Micro // price of the first outcome, at most
	MinPriceChange24h *data.Micro // change of the price in 24 hours, at least
	MaxPriceChange24h *data.Micro // change of the price in 24 hours, at most
	MinWhaleFlow24h   *data.Micro // USD of whale moves of the last 24 hours towards the first outcome less those away from it, at least
	MaxWhaleFlow24h   *data.Micro // USD of whale moves of the last 24 hours towards the first outcome less those away from it, at most
	MinSpread         *data.Micro // best ask less best bid, at least
	MaxSpread         *data.Micro // best ask less best bid, at most
}

// ScreenerSummary asks GET /screener/summary. What the filters of the screener keep, added up.
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
	IdempotencyKey string // any text of yours; a repeat of the request under the same text gives the job that the first one made
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
	IdempotencyKey string // any text of yours; a repeat of the request under the same text gives the job that the first one made
}

// CreateTraderExportJobs asks POST /trader/{address}/export-jobs. Export all about a wallet as a zip.
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

// DeleteResearchExportJobs asks DELETE /research/export-jobs/{job_id}. Cancel an export job, or give its file up.
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

// DeleteTraderExportJobs asks DELETE /trader/export-jobs/{job_id}. Cancel an export job, or give its file up.
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
	Date   string // events of this local day of the city alone
	Metric string // highest or lowest temperatures alone
	Limit  int64  // rows wanted; the plan's row cap may trim it
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
	Cities    []string    // these cities alone: slugs or other names, separated by commas or one by one; a name that the desk does not have is an error
	Date      string      // events of this local day of their cities alone
	Metric    string      // highest or lowest temperatures alone
	MinVolume *data.Micro // events of at least so many lifetime dollars
	Include   string      // ids: condition and token ids of the brackets too
}

// WeatherBotBundle asks GET /weather/bot-bundle. The desk in short, for bots.
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
	Date   string // this day of the city's calendar alone, past days among them
	Days   int64  // days from the city's today on
	Metric string // highs or lows alone
	Source string // this source alone, by its name
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
	Limit  int64  // days wanted, the newest of which there is anything to show; the plan's history cap may trim them
	Kind   string // this kind alone
	Metric string // highs or lows alone
	Source string // this source alone, by its name
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
	Limit  int64  // days wanted, the newest of which there is anything to show; the plan's history cap may trim them
	Metric string // highs or lows alone
	Basis  string // what was measured, or what is foretold, alone
	Kind   string // actuals of this kind alone, without forecasts
	Source string // this source alone, by its name
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
	Source string // this source alone, by its name
	Limit  int64  // changes wanted, the newest; the figures are of all of them
}

// WeatherForecastEvolution asks GET /weather/forecast-evolution/{city}/{date}. How the forecast for a date evolved over time.
func (c *Client) WeatherForecastEvolution(ctx context.Context, city string, date string, params WeatherForecastEvolutionParams) (*wire.ForecastEvolution, error) {
	r := request{method: "GET", path: join("/weather/forecast-evolution/", city, "/", date), query: url.Values{}, header: http.Header{}}
	set(r.query, "metric", params.Metric)
	set(r.query, "source", params.Source)
	set(r.query, "limit", params.Limit)
	return call[wire.ForecastEvolution](ctx, c, r)
}

// WeatherTradersParams are the optional parameters of WeatherTraders; what is zero is left out.
type WeatherTradersParams struct {
	Sort  string // figure that ranks, the greatest first
	Limit int64  // rows wanted; the plan's row cap may trim it
}

// WeatherTraders asks GET /weather/traders. Top weather-market traders.
func (c *Client) WeatherTraders(ctx context.Context, params WeatherTradersParams) (*wire.WeatherTraders, error) {
	r := request{method: "GET", path: "/weather/traders", query: url.Values{}, header: http.Header{}}
	set(r.query, "sort", params.Sort)
	set(r.query, "limit", params.Limit)
	return call[wire.WeatherTraders](ctx, c, r)
}

// Me asks GET /me. Your key: plan, limits, what is left of them, and usage.
func (c *Client) Me(ctx context.Context) (*wire.Undated[wire.Account], error) {
	r := request{method: "GET", path: "/me"}
	return call[wire.Undated[wire.Account]](ctx, c, r)
}
