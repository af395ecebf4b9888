// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.

package client

import (
	"context"
	"net/http"
	"net/url"

	"pmx/http/wire"
)

// Event sends GET /event/{event_id}. An event, with sums over its markets.
func (c *Client) Event(ctx context.Context, eventID string) (*wire.One[wire.EventOverview], error) {
	r := request{method: "GET", path: join("/event/", eventID)}
	return call[wire.One[wire.EventOverview]](ctx, c, r)
}

// EventMarketsParams are the optional parameters of EventMarkets; zero values are not sent.
type EventMarketsParams struct {
	Limit  int64 // maximum number of rows; the plan's row limit may reduce it
	Offset int64 // number of rows to skip
}

// EventMarkets sends GET /event/{event_id}/markets. Markets of an event, by volume.
func (c *Client) EventMarkets(ctx context.Context, eventID string, params EventMarketsParams) (*wire.Ranked[wire.MarketSummary], error) {
	r := request{method: "GET", path: join("/event/", eventID, "/markets"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	set(r.query, "offset", params.Offset)
	return call[wire.Ranked[wire.MarketSummary]](ctx, c, r)
}

// EventTradersParams are the optional parameters of EventTraders; zero values are not sent.
type EventTradersParams struct {
	Limit  int64 // maximum number of rows; the plan's row limit may reduce it
	Offset int64 // number of rows to skip
}

// EventTraders sends GET /event/{event_id}/traders. Top traders of an event by real_pnl.
func (c *Client) EventTraders(ctx context.Context, eventID string, params EventTradersParams) (*wire.Ranked[wire.EventTrader], error) {
	r := request{method: "GET", path: join("/event/", eventID, "/traders"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	set(r.query, "offset", params.Offset)
	return call[wire.Ranked[wire.EventTrader]](ctx, c, r)
}
