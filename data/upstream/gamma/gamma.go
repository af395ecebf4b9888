// Package gamma is a client of Gamma, the venue's catalogue. It reads markets and events page by
// page. It returns raw JSON, which the feeds gamma-markets and gamma-events import, and what those
// feeds read from it. Responses are checked: a page with a record that was not requested, a
// repeated cursor and a repeated page are errors of package pages, and no record of such a page is
// returned.
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

// Client is a client of Gamma. It may be used by several goroutines.
type Client struct{ host pages.Asker }

// New returns a Client that sends requests to host, whose base is Gamma's.
func New(host pages.Asker) *Client { return &Client{host: host} }

// The paths of the two lists, and the maximum number of records of a page of each.
const (
	marketsPath, mostMarkets = "/markets/keyset", 100
	eventsPath, mostEvents   = "/events/keyset", 100
	// mostTokens is the number of ids that fit into a request: with more, the URL would be too
	// long.
	mostTokens = 40
)

// Market is a market of Gamma.
type Market struct {
	Raw json.RawMessage // the record, which the feed gamma-markets imports
	// Market is what that feed reads from it, if Bad is nil.
	data.Market
	// Bad is why the feed rejects the record: a draft without a condition, a broken id. It
	// is a *shape.RowError.
	Bad error
}

// Event is an event with its markets.
type Event struct {
	Raw     json.RawMessage // the record, which the feed gamma-events imports
	ID      string
	Closed  *bool // nil: not given
	Markets []Market
}

// Page is one page of a list.
type Page struct {
	Markets []Market // of /markets/keyset
	Events  []Event  // of /events/keyset
	Next    string   // cursor of the next page; "" after the last
}

// EachMarkets scans the closed or the open markets from the page at the cursor from; "" is the
// first. fn is called with each page before the next one is requested.
func (c *Client) EachMarkets(ctx context.Context, closed bool, from string, fn func(Page) error) error {
	w := scan{host: c.host, path: marketsPath, query: url.Values{"limit": {strconv.Itoa(mostMarkets)}, "include_tag": {"true"}}, closed: closed}
	return w.each(ctx, from, fn)
}

// EachEvents scans the closed or the open events, like EachMarkets. An open event may have closed
// markets.
func (c *Client) EachEvents(ctx context.Context, closed bool, from string, fn func(Page) error) error {
	w := scan{host: c.host, path: eventsPath, query: url.Values{"limit": {strconv.Itoa(mostEvents)}}, closed: closed}
	return w.each(ctx, from, fn)
}

// ByTokens returns the markets of tokens of protocol V1, open or closed, each once. It includes
// records that cannot be read, with Bad set, because their tokens are unknown.
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

// byIDs requests at most mostTokens ids at once, each with a key of its own: Gamma ignores a list
// in one key, or a key with brackets, and then returns any markets. Without the parameter closed it
// omits resolved markets, so both values are requested.
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

// market reads a record like the feed.
func market(raw json.RawMessage, event *polymarket.Event) Market {
	m := Market{Raw: raw}
	var g polymarket.Gamma
	if err := polymarket.UnmarshalGamma(raw, &g); err != nil {
		m.Bad = shape.Undecoded(err)
		return m
	}
	if event != nil {
		g.Events = polymarket.Events{*event}
	}
	m.Market, m.Bad = g.Market()
	return m
}
