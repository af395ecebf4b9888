// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.

package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"pmx/http/wire"
)

// PmxIndex sends GET /pmx-index. The PMX index now.
func (c *Client) PmxIndex(ctx context.Context) (*wire.One[wire.PMXIndex], error) {
	r := request{method: "GET", path: "/pmx-index"}
	return call[wire.One[wire.PMXIndex]](ctx, c, r)
}

// PmxIndexHistoryParams are the optional parameters of PmxIndexHistory; zero values are not sent.
type PmxIndexHistoryParams struct {
	Interval string    // length of the interval that a row covers
	From     time.Time // rows that begin at this time or later; if omitted, the newest rows
	Limit    int64     // maximum number of rows: the first ones from `from` on or, without `from`, the newest
}

// PmxIndexHistory sends GET /pmx-index/{name}/history. History of an index.
func (c *Client) PmxIndexHistory(ctx context.Context, name string, params PmxIndexHistoryParams) (*wire.PMXHistory, error) {
	r := request{method: "GET", path: join("/pmx-index/", name, "/history"), query: url.Values{}, header: http.Header{}}
	set(r.query, "interval", params.Interval)
	set(r.query, "from", params.From)
	set(r.query, "limit", params.Limit)
	return call[wire.PMXHistory](ctx, c, r)
}

// PmxIndexHistoriesParams are the optional parameters of PmxIndexHistories; zero values are not sent.
type PmxIndexHistoriesParams struct {
	Name     []string  // index to show; if repeated, or separated by commas, all of these; if omitted, all six
	Interval string    // length of the interval that a row covers
	From     time.Time // points that begin at this time or later; if omitted, the newest points
	Limit    int64     // maximum number of points of each index: the first ones from `from` on or, without `from`, the newest
}

// PmxIndexHistories sends GET /pmx-index/histories. Histories of several indices at once.
func (c *Client) PmxIndexHistories(ctx context.Context, params PmxIndexHistoriesParams) (*wire.PMXHistories, error) {
	r := request{method: "GET", path: "/pmx-index/histories", query: url.Values{}, header: http.Header{}}
	set(r.query, "name", params.Name)
	set(r.query, "interval", params.Interval)
	set(r.query, "from", params.From)
	set(r.query, "limit", params.Limit)
	return call[wire.PMXHistories](ctx, c, r)
}
