// Package gamma asks Gamma, the venue's catalogue, for markets and events, page by page.
// What it gives is raw JSON that the feeds gamma-markets and gamma-events import, and what
// those feeds read of it. Nothing is believed for having been asked for: a page with a
// record that was not asked for, a cursor that comes back and a page that was there before
// are errors of package pages, and nothing of such a page is given.
package gamma

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"pmx/data"
	"pmx/data/feeds/polymarket"
	"pmx/data/feeds/shape"
	"pmx/data/upstream/pages"
)

// Client asks Gamma. It is for one goroutine per call.
type Client struct{ host pages.Asker }

// New returns a Client that asks host, whose base is Gamma's.
func New(host pages.Asker) *Client { return &Client{host: host} }

// The paths of the two lists, and how many records of each a page has at most.
const (
	marketsPath, mostMarkets = "/markets/keyset", 100
	eventsPath, mostEvents   = "/events/keyset", 100
	// mostTokens is how many ids fit into a request: with more the URL is too long.
	mostTokens = 40
)

// Market is a market as Gamma has it.
type Market struct {
	Raw json.RawMessage // the record, which the feed gamma-markets imports
	// Market is what that feed reads of it, where Bad is nil.
	data.Market
	// Bad is why the feed rejects the record: a draft without a condition, a broken id. It
	// is a *shape.RowError.
	Bad error
}

// Event is an event with its markets.
type Event struct {
	Raw     json.RawMessage // the record, which the feed gamma-events imports
	ID      string
	Closed  *bool // nil: not said
	Markets []Market
}

// Page is one page of a list.
type Page struct {
	Markets []Market // of /markets/keyset
	Events  []Event  // of /events/keyset
	Next    string   // cursor of the next page; "" behind the last
}

// EachMarkets scans the markets that are closed or not, from the page behind the cursor
// from; "" is the first. fn gets each page before the next one is asked for.
func (c *Client) EachMarkets(ctx context.Context, closed bool, from string, fn func(Page) error) error {
	w := scan{host: c.host, path: marketsPath, query: url.Values{"limit": {strconv.Itoa(mostMarkets)}, "include_tag": {"true"}}, closed: closed}
	return w.each(ctx, from, fn)
}

// EachEvents scans the events that are closed or not, as EachMarkets does the markets. Of an
// open event single markets may be closed.
func (c *Client) EachEvents(ctx context.Context, closed bool, from string, fn func(Page) error) error {
	w := scan{host: c.host, path: eventsPath, query: url.Values{"limit": {strconv.Itoa(mostEvents)}}, closed: closed}
	return w.each(ctx, from, fn)
}

// ByTokens returns the markets of tokens of protocol V1, open or closed, each once. Records that
// cannot be read are among them, with Bad, as nothing tells whose they are.
func (c *Client) ByTokens(ctx context.Context, tokens []string) ([]Market, error) {
	return c.byIDs(ctx, "clob_token_ids", tokens, func(asked map[string]bool, m *Market) bool {
		for _, t := range m.TokenIDs {
			if asked[t] {
				return true
			}
		}
		return false
	})
}

// ByConditions returns the markets of conditions, open or closed, each once.
func (c *Client) ByConditions(ctx context.Context, conditions []data.Hash) ([]Market, error) {
	ids := make([]string, len(conditions))
	for i, h := range conditions {
		ids[i] = h.String()
	}
	return c.byIDs(ctx, "condition_ids", ids, func(asked map[string]bool, m *Market) bool { return asked[m.Condition.String()] })
}

// byIDs asks for at most mostTokens ids at once, each as a key of its own: a list in one
// key, or a key with brackets, is ignored by Gamma, which then gives whatever it has.
// Without closed it hides what is resolved, so both are asked for.
func (c *Client) byIDs(ctx context.Context, key string, ids []string, mine func(asked map[string]bool, m *Market) bool) ([]Market, error) {
	var found []Market
	known := map[data.Hash]bool{}
	for len(ids) > 0 {
		some := ids[:min(len(ids), mostTokens)]
		ids = ids[len(some):]
		asked := map[string]bool{}
		for _, id := range some {
			asked[id] = true
		}
		for _, closed := range []bool{false, true} {
			w := scan{host: c.host, path: marketsPath, closed: closed,
				query: url.Values{"limit": {strconv.Itoa(mostMarkets)}, "include_tag": {"true"}, key: some},
				mine:  func(m *Market) bool { return mine(asked, m) }}
			err := w.each(ctx, "", func(p Page) error {
				for _, m := range p.Markets {
					if m.Bad != nil || !known[m.Condition] {
						known[m.Condition] = true
						found = append(found, m)
					}
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// market reads a record as the feed does.
func market(raw json.RawMessage, event *polymarket.Event) Market {
	m := Market{Raw: raw}
	var g polymarket.Gamma
	if err := json.Unmarshal(raw, &g); err != nil {
		m.Bad = shape.Undecoded(err)
		return m
	}
	if event != nil {
		g.Events = polymarket.Events{*event}
	}
	m.Market, m.Bad = g.Market()
	return m
}
