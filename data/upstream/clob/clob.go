// Package clob is a client of the venue's order book service. It reads the list of all markets,
// whose raw JSON the feed clob-markets imports, and the order books of tokens.
package clob

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"pmx/data"
	"pmx/data/feeds/polymarket"
	"pmx/data/feeds/shape"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/pages"
)

// Client is a client of the CLOB. It may be used by several goroutines.
type Client struct{ host pages.Asker }

// New returns a Client that sends requests to host, whose base is the CLOB's.
func New(host pages.Asker) *Client { return &Client{host: host} }

const (
	marketsPath, booksPath = "/markets", "/books"
	// Start is the cursor of the first page of markets.
	Start = "MA=="
	// end is the cursor after the last page: -1 in base 64. All cursors are offsets.
	end = "LTE="
	// mostBooks is the maximum number of books of a request.
	mostBooks = 500
)

// Market is a market of the CLOB.
type Market struct {
	Raw json.RawMessage // the record, which the feed clob-markets imports
	// Market is what that feed reads from it, if Bad is nil.
	data.Market
	Bad error // why the feed rejects the record, a *shape.RowError
}

// Page is a page of markets.
type Page struct {
	Markets []Market
	Cursor  string // of this page
	Next    string // of the next page; "" if this is the last
}

// EachMarkets scans all markets from the page at the cursor from, which is Start or the cursor of
// an earlier page. The order of markets does not change and new ones come last, so a scan from the
// cursor of the last page finds all new markets.
func (c *Client) EachMarkets(ctx context.Context, from string, fn func(Page) error) error {
	var seen pages.Seen
	for cursor := from; ; {
		p, err := c.page(ctx, cursor)
		if err != nil {
			return err
		}
		ids := make([]string, len(p.Markets))
		for i := range p.Markets {
			ids[i] = p.Markets[i].Condition.String() + p.Markets[i].QuestionID
		}
		if err := seen.Check(marketsPath, cursor, p.Next, ids); err != nil {
			return err
		}
		if err := fn(p); err != nil || p.Next == "" {
			return err
		}
		cursor = p.Next
	}
}

func (c *Client) page(ctx context.Context, cursor string) (Page, error) {
	a, err := c.host.Do(ctx, fetch.Request{Path: marketsPath, Query: url.Values{"next_cursor": {cursor}}})
	if err != nil {
		return Page{}, fmt.Errorf("%s: %w", marketsPath, err)
	}
	var body struct {
		Data *[]json.RawMessage `json:"data"`
		Next shape.Text         `json:"next_cursor"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		return Page{}, &pages.ShapeError{Path: marketsPath, Why: "the response is not a page: " + err.Error()}
	}
	if body.Data == nil || body.Next.Trim() == "" {
		return Page{}, &pages.ShapeError{Path: marketsPath, Why: "the response has no list of markets or no next cursor"}
	}
	p := Page{Cursor: cursor}
	if next := body.Next.Trim(); next != end {
		p.Next = next
	}
	for _, raw := range *body.Data {
		m := Market{Raw: raw}
		var row polymarket.CLOB
		if err := json.Unmarshal(raw, &row); err != nil {
			m.Bad = shape.Undecoded(err)
		} else {
			m.Market, m.Bad = row.Market()
		}
		p.Markets = append(p.Markets, m)
	}
	return p, nil
}
