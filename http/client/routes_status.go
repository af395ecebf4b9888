// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.

package client

import (
	"context"
	"net/http"
	"net/url"

	"pmx/http/wire"
)

// Health sends GET /health. Liveness and database reachability.
func (c *Client) Health(ctx context.Context) (*wire.One[wire.Health], error) {
	r := request{method: "GET", path: "/health"}
	return call[wire.One[wire.Health]](ctx, c, r)
}

// Status sends GET /status. Alias of /health.
func (c *Client) Status(ctx context.Context) (*wire.One[wire.Health], error) {
	r := request{method: "GET", path: "/status"}
	return call[wire.One[wire.Health]](ctx, c, r)
}

// StatusPublic sends GET /status/public. Freshness grade of every subsystem.
func (c *Client) StatusPublic(ctx context.Context) (*wire.One[wire.PublicStatus], error) {
	r := request{method: "GET", path: "/status/public"}
	return call[wire.One[wire.PublicStatus]](ctx, c, r)
}

// StatusHistoryParams are the optional parameters of StatusHistory; zero values are not sent.
type StatusHistoryParams struct {
	Days int64 // number of UTC days, including today
}

// StatusHistory sends GET /status/history. Grades of every subsystem by day, and what happened.
func (c *Client) StatusHistory(ctx context.Context, params StatusHistoryParams) (*wire.StatusHistory, error) {
	r := request{method: "GET", path: "/status/history", query: url.Values{}, header: http.Header{}}
	set(r.query, "days", params.Days)
	return call[wire.StatusHistory](ctx, c, r)
}

// Me sends GET /me. Your key: plan, limits, remaining requests, and usage.
func (c *Client) Me(ctx context.Context) (*wire.Undated[wire.Account], error) {
	r := request{method: "GET", path: "/me"}
	return call[wire.Undated[wire.Account]](ctx, c, r)
}
