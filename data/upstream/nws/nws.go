// Package nws requests observations of stations from the National Weather Service. The feed
// nws-observations imports them.
package nws

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pmx/data/upstream/fetch"
	"pmx/data/upstream/pages"
)

// Client requests observations. It must be used by one goroutine.
type Client struct {
	host  pages.Asker
	known map[string]mark // by the path of the first page
}

// mark identifies a response, so that it is recognised when it has not changed.
type mark struct{ etag, modified string }

// New returns a Client that sends requests to host.
func New(host pages.Asker) *Client { return &Client{host: host, known: map[string]mark{}} }

const (
	mostRows  = 500 // of a page
	mostPages = 50
)

// Observations are the observations of a station.
type Observations struct {
	Body  []byte // GeoJSON for the feed nws-observations; nil if there is none
	Rows  int
	Fresh bool // false: nothing has changed since Keep

	asked string
	mark  mark
}

// Keep records that the observations were stored. While they have not changed, the service does not
// send them again.
func (c *Client) Keep(o Observations) {
	if o.mark != (mark{}) {
		c.known[o.asked] = o.mark
	}
}

// Observations returns all observations of a station, given by its ICAO code, since a time.
func (c *Client) Observations(ctx context.Context, station string, since time.Time) (out Observations, err error) {
	path := "/stations/" + station + "/observations"
	query := url.Values{"start": {since.UTC().Truncate(time.Second).Format(time.RFC3339)}, "limit": {strconv.Itoa(mostRows)}}
	out.asked = path + "?" + query.Encode()
	var seen pages.Seen
	var all [][]byte
	for n := 0; ; n++ {
		if n == mostPages {
			return out, &pages.ShapeError{Path: path, Why: fmt.Sprintf("there are more than %d pages", mostPages)}
		}
		r := fetch.Request{Path: path, Query: query, Accept: []string{"application/geo+json", "application/json"}}
		if n == 0 {
			was := c.known[out.asked]
			r.ETag, r.LastModified = was.etag, was.modified
		}
		a, err := c.host.Do(ctx, r)
		if err != nil || a.NotModified {
			return out, err
		}
		if n == 0 {
			out.mark = mark{a.Header.Get("ETag"), a.Header.Get("Last-Modified")}
		}
		rows, ids, next, err := page(path, station, a.Body)
		if err != nil {
			return out, err
		}
		if len(rows) == 0 || next == nil {
			all = append(all, rows...)
			break
		}
		if err := seen.Check(path, query.Encode(), next.Encode(), ids); err != nil {
			return out, err
		}
		all, query = append(all, rows...), next
	}
	out.Fresh, out.Rows = true, len(all)
	if len(all) > 0 {
		out.Body = append(append([]byte(`{"type":"FeatureCollection","features":[`), bytes.Join(all, []byte{','})...), "]}"...)
	}
	return out, nil
}

// page parses a page: its observations, their ids, and the query for the next page, nil after the
// last.
func page(path, station string, body []byte) (rows [][]byte, ids []string, next url.Values, err error) {
	var p struct {
		Features   *[]json.RawMessage `json:"features"`
		Pagination struct {
			Next string `json:"next"`
		} `json:"pagination"`
	}
	if json.Unmarshal(body, &p) != nil || p.Features == nil {
		return nil, nil, nil, &pages.ShapeError{Path: path, Why: "the response has no list of observations"}
	}
	for _, raw := range *p.Features {
		var f struct {
			Properties struct {
				Station   string `json:"station"`
				StationID string `json:"stationId"`
				Timestamp string `json:"timestamp"`
			} `json:"properties"`
		}
		if json.Unmarshal(raw, &f) != nil {
			return nil, nil, nil, &pages.ShapeError{Path: path, Why: "an observation cannot be read"}
		}
		id := f.Properties.StationID
		if id == "" {
			id = f.Properties.Station[strings.LastIndexByte(f.Properties.Station, '/')+1:]
		}
		if id != "" && !strings.EqualFold(id, station) { // the feed rejects an observation without a station
			return nil, nil, nil, &pages.ForeignError{Path: path, What: fmt.Sprintf("an observation of %q", id), Asked: "it is of another station"}
		}
		rows, ids = append(rows, raw), append(ids, id+" "+f.Properties.Timestamp)
	}
	if p.Pagination.Next == "" {
		return rows, ids, nil, nil
	}
	// Only the query is used: the host stays the same.
	u, err := url.Parse(p.Pagination.Next)
	if err != nil || !strings.HasSuffix(u.Path, path) || len(u.Query()) == 0 {
		return nil, nil, nil, &pages.ShapeError{Path: path, Why: "the next page belongs to another list"}
	}
	return rows, ids, u.Query(), nil
}
