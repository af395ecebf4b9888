package gamma

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strconv"

	"pmx/data/feeds/polymarket"
	"pmx/data/feeds/shape"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/pages"
)

// scan reads a list page by page.
type scan struct {
	host   pages.Asker
	path   string
	query  url.Values
	closed bool
	mine   func(*Market) bool // whether a market was requested; nil: all were
}

func (w *scan) each(ctx context.Context, cursor string, fn func(Page) error) error {
	var seen pages.Seen
	for {
		p, err := w.page(ctx, cursor)
		if err != nil {
			return err
		}
		if err := seen.Check(w.path, cursor, p.Next, p.ids()); err != nil {
			return err
		}
		if err := fn(p); err != nil || p.Next == "" {
			return err
		}
		cursor = p.Next
	}
}

// ids are the records of a page by their ids.
func (p *Page) ids() []string {
	var ids []string
	for i := range p.Markets {
		ids = append(ids, p.Markets[i].GammaID+" "+p.Markets[i].Condition.String())
	}
	for i := range p.Events {
		ids = append(ids, p.Events[i].ID)
	}
	return ids
}

// page requests a page and checks that everything in it was requested.
func (w *scan) page(ctx context.Context, cursor string) (Page, error) {
	query := maps.Clone(w.query)
	query.Set("closed", strconv.FormatBool(w.closed))
	if cursor != "" {
		query.Set("after_cursor", cursor)
	}
	a, err := w.host.Do(ctx, fetch.Request{Path: w.path, Query: query})
	if err != nil {
		return Page{}, fmt.Errorf("%s: %w", w.path, err)
	}
	var body struct {
		Markets *[]json.RawMessage `json:"markets"`
		Events  *[]json.RawMessage `json:"events"`
		Next    shape.Text         `json:"next_cursor"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		return Page{}, &pages.ShapeError{Path: w.path, Why: "the response is not a page: " + err.Error()}
	}
	records := body.Markets
	if w.path == eventsPath {
		records = body.Events
	}
	if records == nil {
		return Page{}, &pages.ShapeError{Path: w.path, Why: "the response does not have the requested list"}
	}
	p := Page{Next: body.Next.Trim()}
	for _, raw := range *records {
		if w.path == eventsPath {
			err = w.addEvent(&p, raw)
		} else {
			err = w.addMarket(&p, raw)
		}
		if err != nil {
			return Page{}, err
		}
	}
	return p, nil
}

func (w *scan) addMarket(p *Page, raw json.RawMessage) error {
	m := market(raw, nil)
	switch {
	case m.Bad == nil && m.Closed != nil && *m.Closed != w.closed:
		return &pages.ForeignError{Path: w.path, What: "market " + m.Condition.String(), Asked: fmt.Sprintf("closed=%t", w.closed)}
	case m.Bad == nil && w.mine != nil && !w.mine(&m):
		return &pages.ForeignError{Path: w.path, What: "market " + m.Condition.String(), Asked: "it is not one of the ids"}
	}
	p.Markets = append(p.Markets, m)
	return nil
}

func (w *scan) addEvent(p *Page, raw json.RawMessage) error {
	var e struct {
		polymarket.Event
		Closed  shape.Text        `json:"closed"`
		Markets []json.RawMessage `json:"markets"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return &pages.ShapeError{Path: w.path, Why: "an event cannot be read: " + err.Error()}
	}
	out := Event{Raw: raw, ID: e.ID.Trim(), Closed: e.Closed.Bool()}
	if out.Closed != nil && *out.Closed != w.closed {
		return &pages.ForeignError{Path: w.path, What: "event " + out.ID, Asked: fmt.Sprintf("closed=%t", w.closed)}
	}
	for _, one := range e.Markets {
		out.Markets = append(out.Markets, market(one, &e.Event))
	}
	p.Events = append(p.Events, out)
	return nil
}
