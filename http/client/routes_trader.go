// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"pmx/http/wire"
)

// TraderStats sends GET /trader/{address}/stats. Lifetime summary of a wallet.
func (c *Client) TraderStats(ctx context.Context, address string) (*wire.One[wire.TraderStats], error) {
	r := request{method: "GET", path: join("/trader/", address, "/stats")}
	return call[wire.One[wire.TraderStats]](ctx, c, r)
}

// TraderActivityDailyParams are the optional parameters of TraderActivityDaily; zero values are not sent.
type TraderActivityDailyParams struct {
	Limit int64 // number of newest days; the plan's history limit may reduce it
}

// TraderActivityDaily sends GET /trader/{address}/activity/daily. A wallet's figures by day, newest first.
func (c *Client) TraderActivityDaily(ctx context.Context, address string, params TraderActivityDailyParams) (*wire.Series[wire.WalletDay], error) {
	r := request{method: "GET", path: join("/trader/", address, "/activity/daily"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	return call[wire.Series[wire.WalletDay]](ctx, c, r)
}

// TraderMarketsParams are the optional parameters of TraderMarkets; zero values are not sent.
type TraderMarketsParams struct {
	Sort      string   // figure or time to sort by; abs_real_pnl is the absolute value of `real_pnl`
	Order     string   // desc: largest first; asc: smallest first; unknown values come last in both
	Status    []string // markets with this status; if repeated, or separated by commas, with any of them
	Category  []string // markets of this category; if repeated, of any of them; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
	Positions string   // false: `positions` is null in every row, which makes the response much shorter
	Limit     int64    // maximum number of rows; the plan's row limit may reduce it
	Cursor    string   // `next_cursor` of the previous page; all other parameters must stay the same
}

// TraderMarkets sends GET /trader/{address}/markets. Markets of a wallet, with its position and profit in each.
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

// TraderCategories sends GET /trader/{address}/categories. A wallet's figures by category of market.
func (c *Client) TraderCategories(ctx context.Context, address string) (*wire.Series[wire.WalletCategory], error) {
	r := request{method: "GET", path: join("/trader/", address, "/categories")}
	return call[wire.Series[wire.WalletCategory]](ctx, c, r)
}

// TraderTradesParams are the optional parameters of TraderTrades; zero values are not sent.
type TraderTradesParams struct {
	Limit  int64  // maximum number of rows; the plan's row limit may reduce it
	Cursor string // `next_cursor` of the previous page; all other parameters must stay the same
}

// TraderTrades sends GET /trader/{address}/trades. Fills of a wallet, newest first.
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

// TraderCompareParams are the optional parameters of TraderCompare; zero values are not sent.
type TraderCompareParams struct {
	Series string // daily: each row also has `days`
	Days   int64  // number of UTC days in `days`, ending with the day of as_of; the plan's history limit may reduce it
}

// TraderCompare sends GET /trader/compare. Lifetime summaries of wallets side by side.
func (c *Client) TraderCompare(ctx context.Context, address []string, params TraderCompareParams) (*wire.Series[wire.TraderComparison], error) {
	r := request{method: "GET", path: "/trader/compare", query: url.Values{}, header: http.Header{}}
	set(r.query, "address", address)
	set(r.query, "series", params.Series)
	set(r.query, "days", params.Days)
	return call[wire.Series[wire.TraderComparison]](ctx, c, r)
}
