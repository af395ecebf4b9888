// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"pmx/data"
	"pmx/http/wire"
)

// WhalesParams are the optional parameters of Whales; zero values are not sent.
type WhalesParams struct {
	Period string // length of the rolling window, which ends at as_of
	Limit  int64  // maximum number of rows; the plan's row limit may reduce it
}

// Whales sends GET /whales. Top wallets by large orders.
func (c *Client) Whales(ctx context.Context, params WhalesParams) (*wire.WhaleLeaderboard, error) {
	r := request{method: "GET", path: "/whales", query: url.Values{}, header: http.Header{}}
	set(r.query, "period", params.Period)
	set(r.query, "limit", params.Limit)
	return call[wire.WhaleLeaderboard](ctx, c, r)
}

// WhalesMovesParams are the optional parameters of WhalesMoves; zero values are not sent.
type WhalesMovesParams struct {
	Limit    int64       // maximum number of rows; the plan's row limit may reduce it
	Cursor   string      // `next_cursor` of the previous page; all other parameters must stay the same
	MinUSD   *data.Micro // only moves of at least this many USD; it must not be less than threshold_usd
	Side     string      // only buys or only sells
	MarketID string      // condition id: only moves in this market
	Address  string      // only moves of this wallet
	Category string      // only moves in markets of this category; case-insensitive. The categories are crypto, culture, economics, finance, other, politics, sports, tech, weather, world, and any other that a market of the venue has; an unknown category is an error, which lists the known ones
}

// WhalesMoves sends GET /whales/moves. Recent large orders.
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

// WhalesFlowParams are the optional parameters of WhalesFlow; zero values are not sent.
type WhalesFlowParams struct {
	MarketID string // condition id: only this market
	Period   string // length of the rolling window, which ends at as_of
	Interval string // length of the intervals of `series`; if omitted, `1h` for a period of 1d, `6h` for 7d, `1d` for 30d
	Limit    int64  // maximum number of rows; the plan's row limit may reduce it
}

// WhalesFlow sends GET /whales/flow. Net flow of large orders, by market.
func (c *Client) WhalesFlow(ctx context.Context, params WhalesFlowParams) (*wire.WhaleFlow, error) {
	r := request{method: "GET", path: "/whales/flow", query: url.Values{}, header: http.Header{}}
	set(r.query, "market_id", params.MarketID)
	set(r.query, "period", params.Period)
	set(r.query, "interval", params.Interval)
	set(r.query, "limit", params.Limit)
	return call[wire.WhaleFlow](ctx, c, r)
}
