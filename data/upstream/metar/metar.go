// Package metar requests the weather reports of many stations at once from aviationweather.gov. The
// feed metar imports them.
package metar

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"pmx/data/upstream/fetch"
	"pmx/data/upstream/pages"
)

// Client requests reports. It must be used by one goroutine.
type Client struct {
	host  pages.Asker
	known map[string]mark // by request
}

// mark identifies a response, so that it is recognised when it has not changed.
type mark struct{ etag, modified string }

// New returns a Client that sends requests to host.
func New(host pages.Asker) *Client { return &Client{host: host, known: map[string]mark{}} }

const (
	path = "/api/data/metar"
	// mostRows is the maximum number of rows in a response: one with so many may silently omit
	// some.
	mostRows = 400
	// MostHours is the maximum number of hours that are requested, so that one station has fewer
	// than mostRows reports.
	MostHours = 96
	// emptyTimes is how many responses without any report it takes to believe that there are none.
	emptyTimes = 3
)

// Reports are reports of stations.
type Reports struct {
	Body  []byte         // a JSON array for the feed metar; nil if there is none
	Rows  map[string]int // number of reports, by station
	Fresh bool           // false: nothing has changed since Keep
	// Cut are the stations with more reports than a response can have.
	Cut []string

	marks map[string]mark
}

// Keep records that the reports were stored. While they have not changed, the service does not send
// them again.
func (c *Client) Keep(r Reports) {
	for asked, m := range r.marks {
		c.known[asked] = m
	}
}

// Reports returns the reports of the last hours of stations, given by their ICAO codes. It is not
// an error if there are none.
func (c *Client) Reports(ctx context.Context, stations []string, hours int) (Reports, error) {
	out := Reports{Rows: map[string]int{}, marks: map[string]mark{}}
	rows, err := c.ask(ctx, stations, min(max(hours, 1), MostHours), &out)
	if err != nil || len(rows) == 0 {
		return out, err
	}
	out.Body = append(append([]byte{'['}, bytes.Join(rows, []byte{','})...), ']')
	return out, nil
}

// ask returns the rows of the stations. It divides the stations if they have more rows than a
// response can have.
func (c *Client) ask(ctx context.Context, stations []string, hours int, out *Reports) ([][]byte, error) {
	query := url.Values{"ids": {strings.Join(stations, ",")}, "format": {"json"}, "hours": {strconv.Itoa(hours)}}
	asked := query.Encode()
	was := c.known[asked]
	var a fetch.Answer
	var list []json.RawMessage
	for range emptyTimes { // stations report every hour, so a service without any report may be broken
		var err error
		a, err = c.host.Do(ctx, fetch.Request{Path: path, Query: query, Empty: true, ETag: was.etag, LastModified: was.modified})
		if err != nil || a.NotModified {
			return nil, err
		}
		if body := bytes.TrimSpace(a.Body); len(body) > 0 && json.Unmarshal(body, &list) != nil {
			return nil, &pages.ShapeError{Path: path, Why: "the response is not an array"}
		}
		if len(list) > 0 {
			break
		}
	}
	out.Fresh = true
	if len(list) >= mostRows && len(stations) > 1 {
		half := len(stations) / 2
		first, err := c.ask(ctx, stations[:half], hours, out)
		if err != nil {
			return nil, err
		}
		second, err := c.ask(ctx, stations[half:], hours, out)
		return append(first, second...), err
	}
	wanted := make(map[string]bool, len(stations))
	for _, s := range stations {
		wanted[s] = true
	}
	rows := make([][]byte, len(list))
	for i, raw := range list {
		var row struct {
			Station string `json:"icaoId"`
		}
		if json.Unmarshal(raw, &row) != nil || row.Station == "" {
			return nil, &pages.ShapeError{Path: path, Why: "a report does not name its station"}
		}
		if !wanted[row.Station] {
			return nil, &pages.ForeignError{Path: path, What: fmt.Sprintf("a report of %q", row.Station), Asked: "it is not one of the stations"}
		}
		out.Rows[row.Station]++
		rows[i] = raw
	}
	if len(list) >= mostRows {
		out.Cut = append(out.Cut, stations[0])
	}
	if m := (mark{a.Header.Get("ETag"), a.Header.Get("Last-Modified")}); m != (mark{}) {
		out.marks[asked] = m
	}
	return rows, nil
}
