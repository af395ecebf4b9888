// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.

package client

import (
	"context"
	"net/http"
	"net/url"

	"pmx/http/wire"
)

// Stats sends GET /stats. Figures of the whole venue.
func (c *Client) Stats(ctx context.Context) (*wire.One[wire.StatsOverview], error) {
	r := request{method: "GET", path: "/stats"}
	return call[wire.One[wire.StatsOverview]](ctx, c, r)
}

// StatsHourly sends GET /stats/hourly. The last 24 hours, hour by hour.
func (c *Client) StatsHourly(ctx context.Context) (*wire.StatsSeries[wire.StatsHour], error) {
	r := request{method: "GET", path: "/stats/hourly"}
	return call[wire.StatsSeries[wire.StatsHour]](ctx, c, r)
}

// StatsDailyParams are the optional parameters of StatsDaily; zero values are not sent.
type StatsDailyParams struct {
	Days int64 // number of newest days; the plan's history limit may reduce it
}

// StatsDaily sends GET /stats/daily. The venue day by day.
func (c *Client) StatsDaily(ctx context.Context, params StatsDailyParams) (*wire.StatsSeries[wire.StatsDay], error) {
	r := request{method: "GET", path: "/stats/daily", query: url.Values{}, header: http.Header{}}
	set(r.query, "days", params.Days)
	return call[wire.StatsSeries[wire.StatsDay]](ctx, c, r)
}

// StatsGrowthParams are the optional parameters of StatsGrowth; zero values are not sent.
type StatsGrowthParams struct {
	Days string // false: `days` is empty, which makes the response much shorter
}

// StatsGrowth sends GET /stats/growth. Growth and trends.
func (c *Client) StatsGrowth(ctx context.Context, params StatsGrowthParams) (*wire.One[wire.StatsGrowth], error) {
	r := request{method: "GET", path: "/stats/growth", query: url.Values{}, header: http.Header{}}
	set(r.query, "days", params.Days)
	return call[wire.One[wire.StatsGrowth]](ctx, c, r)
}
