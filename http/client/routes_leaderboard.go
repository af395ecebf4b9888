// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.

package client

import (
	"context"
	"net/http"
	"net/url"

	"pmx/http/wire"
)

// LeaderboardTradersParams are the optional parameters of LeaderboardTraders; zero values are not sent.
type LeaderboardTradersParams struct {
	Period      string   // length of the rolling window, which ends at as_of
	Limit       int64    // maximum number of rows; the plan's row limit may reduce it
	Category    []string // markets of this category; if repeated, of any of them; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
	MinResolved int64    // only wallets that have traded at least this many resolved markets, over all time and in any category
	Sort        string   // figure of the period to rank by, largest first; a null `roi` comes last
	Offset      int64    // number of rows to skip
	Include     []string // extra fields for each row, repeated or separated by commas: `split` adds `resolved_pnl` and `unresolved_cash`
}

// LeaderboardTraders sends GET /leaderboard/traders. Top traders by real_pnl.
func (c *Client) LeaderboardTraders(ctx context.Context, params LeaderboardTradersParams) (*wire.RankedList[wire.TraderRow], error) {
	r := request{method: "GET", path: "/leaderboard/traders", query: url.Values{}, header: http.Header{}}
	set(r.query, "period", params.Period)
	set(r.query, "limit", params.Limit)
	set(r.query, "category", params.Category)
	set(r.query, "min_resolved", params.MinResolved)
	set(r.query, "sort", params.Sort)
	set(r.query, "offset", params.Offset)
	set(r.query, "include", params.Include)
	return call[wire.RankedList[wire.TraderRow]](ctx, c, r)
}

// LeaderboardMarketsParams are the optional parameters of LeaderboardMarkets; zero values are not sent.
type LeaderboardMarketsParams struct {
	Period string // length of the rolling window, which ends at as_of
	Limit  int64  // maximum number of rows; the plan's row limit may reduce it
}

// LeaderboardMarkets sends GET /leaderboard/markets. Top markets by volume.
func (c *Client) LeaderboardMarkets(ctx context.Context, params LeaderboardMarketsParams) (*wire.RankedList[wire.MarketRow], error) {
	r := request{method: "GET", path: "/leaderboard/markets", query: url.Values{}, header: http.Header{}}
	set(r.query, "period", params.Period)
	set(r.query, "limit", params.Limit)
	return call[wire.RankedList[wire.MarketRow]](ctx, c, r)
}
