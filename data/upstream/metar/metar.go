// Package metar asks aviationweather.gov for the weather reports of many stations in one
// request, which the feed metar imports.
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

// Client asks for reports. It is for one goroutine.
type Client struct {
	host  pages.Asker
	known map[string]mark // by what was asked
}

// mark identifies an answer, so that the same one is recognised.
type mark struct{ etag, modified string }

// New returns a Client that asks host.
func New(host pages.Asker) *Client { return &Client{host: host, known: map[string]mark{}} }

const (
	path = "/api/data/metar"
	// mostRows is as many as the service gives at once: an answer of so many may be short of
	// some, without a word.
	mostRows = 400
	// MostHours is how far back reports are asked for, so that one station's are fewer
	// than mostRows.
	MostHours = 96
	// emptyTimes is how often a request must be answered without any report before that is
	// believed.
	emptyTimes = 3
)

// Reports is what the service has.
type Reports struct {
	Body  []byte         // a JSON array for the feed metar; nil where there is none
	Rows  map[string]int // how many, by station
	Fresh bool           // false: all of it is as it was when it was kept
	// Cut are stations of which there are more reports than one answer has.
	Cut []string

	marks map[string]mark
}

// Keep notes that the reports are kept: while they are the same, they are not sent again.
func (c *Client) Keep(r Reports) {
	for asked, m := range r.marks {
		c.known[asked] = m
	}
}

// Reports gives the reports of stations by their ICAO codes, of the last hours. No report
// at all is an answer too.
func (c *Client) Reports(ctx context.Context, stations []string, hours int) (Reports, error) {
	out := Reports{Rows: map[string]int{}, marks: map[string]mark{}}
	rows, err := c.ask(ctx, stations, min(max(hours, 1), MostHours), &out)
	if err != nil || len(rows) == 0 {
		return out, err
	}
	out.Body = append(append([]byte{'['}, bytes.Join(rows, []byte{','})...), ']')
	return out, nil
}

// ask returns the rows of the stations, in parts where they are more than one answer has.
func (c *Client) ask(ctx context.Context, stations []string, hours int, out *Reports) ([][]byte, error) {
	query := url.Values{"ids": {strings.Join(stations, ",")}, "format": {"json"}, "hours": {strconv.Itoa(hours)}}
	asked := query.Encode()
	was := c.known[asked]
	var a fetch.Answer
	var list []json.RawMessage
	for range emptyTimes { // stations report every hour: what has nothing to tell may be broken
		var err error
		a, err = c.host.Do(ctx, fetch.Request{Path: path, Query: query, Empty: true, ETag: was.etag, LastModified: was.modified})
		if err != nil || a.NotModified {
			return nil, err
		}
		if body := bytes.TrimSpace(a.Body); len(body) > 0 && json.Unmarshal(body, &list) != nil {
			return nil, &pages.ShapeError{Path: path, Why: "the answer is not an array"}
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
			return nil, &pages.ShapeError{Path: path, Why: "a report does not say of which station it is"}
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
