// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"pmx/http/wire"
)

// MarketOverview sends GET /market/{condition_id}/overview. A market: description, figures, resolution and newest fills.
func (c *Client) MarketOverview(ctx context.Context, conditionID string) (*wire.One[wire.MarketOverview], error) {
	r := request{method: "GET", path: join("/market/", conditionID, "/overview")}
	return call[wire.One[wire.MarketOverview]](ctx, c, r)
}

// MarketCandlesParams are the optional parameters of MarketCandles; zero values are not sent.
type MarketCandlesParams struct {
	Interval string // length of the interval that a row covers
	Outcome  *int64 // `outcome_index` of the outcome to show; if omitted, all outcomes
	Limit    int64  // maximum number of rows; the plan's history limit may reduce it
	Cursor   string // `next_cursor` of the previous page; all other parameters must stay the same
}

// MarketCandles sends GET /market/{condition_id}/candles. Prices and volume of a market over time, newest first.
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

// MarketHoldersParams are the optional parameters of MarketHolders; zero values are not sent.
type MarketHoldersParams struct {
	Outcome *int64 // `outcome_index` of the outcome to show; if omitted, all outcomes
	Side    string // long: wallets that bought more than they sold; short: wallets that sold more than they bought
	Limit   int64  // maximum number of rows; the plan's row limit may reduce it
	Offset  int64  // number of rows to skip
}

// MarketHolders sends GET /market/{condition_id}/holders. Largest holders of a market, by outcome tokens.
func (c *Client) MarketHolders(ctx context.Context, conditionID string, params MarketHoldersParams) (*wire.Holders, error) {
	r := request{method: "GET", path: join("/market/", conditionID, "/holders"), query: url.Values{}, header: http.Header{}}
	set(r.query, "outcome", params.Outcome)
	set(r.query, "side", params.Side)
	set(r.query, "limit", params.Limit)
	set(r.query, "offset", params.Offset)
	return call[wire.Holders](ctx, c, r)
}

// MarketTradesParams are the optional parameters of MarketTrades; zero values are not sent.
type MarketTradesParams struct {
	Limit  int64  // maximum number of rows; the plan's row limit may reduce it
	Cursor string // `next_cursor` of the previous page; all other parameters must stay the same
}

// MarketTrades sends GET /market/{condition_id}/trades. Fills of a market, newest first.
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

// TradesNewestParams are the optional parameters of TradesNewest; zero values are not sent.
type TradesNewestParams struct {
	Limit    int64  // maximum number of rows; the plan's row limit may reduce it
	MarketID string // condition id: only trades in this market; it may be a market that is not known yet
}

// TradesNewest sends GET /trades/newest. Trades of the last seconds, not final.
func (c *Client) TradesNewest(ctx context.Context, params TradesNewestParams) (*wire.NewestTrades, error) {
	r := request{method: "GET", path: "/trades/newest", query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	set(r.query, "market_id", params.MarketID)
	return call[wire.NewestTrades](ctx, c, r)
}

// MarketsSearchParams are the optional parameters of MarketsSearch; zero values are not sent.
type MarketsSearchParams struct {
	Category []string // markets of this category; if repeated, of any of them; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
	Status   []string // markets with this status; if repeated, or separated by commas, with any of them
	Limit    int64    // maximum number of rows; the plan's row limit may reduce it
}

// MarketsSearch sends GET /markets/search. Search for markets by words of their titles.
func (c *Client) MarketsSearch(ctx context.Context, q string, params MarketsSearchParams) (*wire.MarketHits, error) {
	r := request{method: "GET", path: "/markets/search", query: url.Values{}, header: http.Header{}}
	set(r.query, "q", q)
	set(r.query, "category", params.Category)
	set(r.query, "status", params.Status)
	set(r.query, "limit", params.Limit)
	return call[wire.MarketHits](ctx, c, r)
}

// SearchParams are the optional parameters of Search; zero values are not sent.
type SearchParams struct {
	Kind  []string // kind to search for; if repeated, or separated by commas, all of these; if omitted, all kinds
	Limit int64    // maximum number of rows of each kind
}

// Search sends GET /search. Search for events, markets, wallets and cities at once.
func (c *Client) Search(ctx context.Context, q string, params SearchParams) (*wire.Series[wire.Found], error) {
	r := request{method: "GET", path: "/search", query: url.Values{}, header: http.Header{}}
	set(r.query, "q", q)
	set(r.query, "kind", params.Kind)
	set(r.query, "limit", params.Limit)
	return call[wire.Series[wire.Found]](ctx, c, r)
}
