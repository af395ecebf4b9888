// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

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

// AllTraderTrades walks through every page of TraderTrades, from params.Cursor on.
func (c *Client) AllTraderTrades(ctx context.Context, address string, params TraderTradesParams) iter.Seq2[wire.Trade, error] {
	return walk(params.Cursor, func(cursor string) (*wire.Page[wire.Trade], error) {
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

// ResearchDatasets asks GET /research/datasets. Datasets that can be exported, column by column.
func (c *Client) ResearchDatasets(ctx context.Context) (*wire.Catalogue, error) {
	r := request{method: "GET", path: "/research/datasets"}
	return call[wire.Catalogue](ctx, c, r)
}

// Me asks GET /me. Your key: plan, limits, what is left of them, and usage.
func (c *Client) Me(ctx context.Context) (*wire.Undated[wire.Account], error) {
	r := request{method: "GET", path: "/me"}
	return call[wire.Undated[wire.Account]](ctx, c, r)
}
