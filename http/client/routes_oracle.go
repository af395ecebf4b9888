// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.

package client

import (
	"context"
	"net/http"
	"net/url"

	"pmx/http/wire"
)

// OracleLeaderboardParams are the optional parameters of OracleLeaderboard; zero values are not sent.
type OracleLeaderboardParams struct {
	MinResolved int64 // minimum number of forecasts for a wallet to be ranked
	Limit       int64 // maximum number of rows; the plan's row limit may reduce it
	Offset      int64 // number of rows to skip
}

// OracleLeaderboard sends GET /oracle/leaderboard. Top traders by forecasting accuracy.
func (c *Client) OracleLeaderboard(ctx context.Context, params OracleLeaderboardParams) (*wire.OracleLeaderboard, error) {
	r := request{method: "GET", path: "/oracle/leaderboard", query: url.Values{}, header: http.Header{}}
	set(r.query, "min_resolved", params.MinResolved)
	set(r.query, "limit", params.Limit)
	set(r.query, "offset", params.Offset)
	return call[wire.OracleLeaderboard](ctx, c, r)
}

// OracleTrader sends GET /oracle/trader/{address}. Forecasting accuracy of a wallet.
func (c *Client) OracleTrader(ctx context.Context, address string) (*wire.One[wire.OracleTrader], error) {
	r := request{method: "GET", path: join("/oracle/trader/", address)}
	return call[wire.One[wire.OracleTrader]](ctx, c, r)
}
