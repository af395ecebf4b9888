package gamma_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/data/upstream/gamma"
	"pmx/data/upstream/pages"
	"pmx/data/upstream/upstreamtest"
)

// client returns a client of a server with the handler f.
func client(t *testing.T, f http.HandlerFunc) *gamma.Client {
	t.Helper()
	return gamma.New(upstreamtest.Host(t, "gamma", f))
}

func condition(n int) data.Hash { return data.Hash{0: 0xc0, 1: byte(n >> 8), 2: byte(n)} }

// row is a market of protocol V1 whose tokens are 2n+1000 and 2n+1001.
func row(n int, closed bool) string {
	return fmt.Sprintf(`{"id":"%d","version":"v1","question":"Q%d?","conditionId":"%s","outcomes":"[\"Yes\",\"No\"]","clobTokenIds":"[\"%d\",\"%d\"]","closed":%t}`,
		n, n, condition(n), 2*n+1000, 2*n+1001, closed)
}

// catalogue responds like Gamma with markets 0 to of-1, every third of which is closed. Flat keys
// filter, keys with brackets are ignored, and closed defaults to false.
func catalogue(t *testing.T, of int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		limit, err := strconv.Atoi(q.Get("limit"))
		if err != nil || limit < 1 || limit > 100 || r.URL.Path != "/markets/keyset" || q.Has("offset") {
			t.Errorf("requested %s", r.URL)
		}
		if ids := len(q["clob_token_ids"]) + len(q["condition_ids"]); ids > 40 {
			http.Error(w, "URI too long", http.StatusRequestURITooLong)
			return
		}
		from, _ := strconv.Atoi(q.Get("after_cursor"))
		var rows []string
		next := ""
		for n := from; n < of; n++ {
			if closed := n%3 == 0; closed != (q.Get("closed") == "true") {
				continue
			}
			token := slices.Contains(q["clob_token_ids"], strconv.Itoa(2*n+1000)) || slices.Contains(q["clob_token_ids"], strconv.Itoa(2*n+1001))
			if q.Has("clob_token_ids") && !token || q.Has("condition_ids") && !slices.Contains(q["condition_ids"], condition(n).String()) {
				continue
			}
			if len(rows) == limit {
				next = strconv.Itoa(n)
				break
			}
			rows = append(rows, row(n, n%3 == 0))
		}
		upstreamtest.Say(w, `{"markets":[`+strings.Join(rows, ",")+`],"next_cursor":"`+next+`"}`)
	}
}

func TestMarketsOfTokens(t *testing.T) {
	requests := 0
	serve := catalogue(t, 500)
	c := client(t, func(w http.ResponseWriter, r *http.Request) { requests++; serve(w, r) })
	var tokens []string
	for n := range 100 {
		tokens = append(tokens, strconv.Itoa(2*n+1000))
	}
	tokens = append(tokens, "1001", "77") // the other token of a market, and an unknown one
	found, err := c.ByTokens(t.Context(), tokens)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 100 || requests != 6 { // three times up to 40 ids, open and closed
		t.Errorf("%d markets by %d requests", len(found), requests)
	}
	closed := 0
	for _, m := range found {
		if m.Bad != nil || !slices.Contains(tokens, m.TokenIDs[0]) || !json.Valid(m.Raw) {
			t.Errorf("%+v", m)
		}
		if *m.Closed {
			closed++
		}
	}
	if closed != 34 {
		t.Errorf("%d of them are closed", closed)
	}
	found, err = c.ByConditions(t.Context(), []data.Hash{condition(3), condition(4), {1: 1}})
	if err != nil || len(found) != 2 {
		t.Errorf("%d markets of conditions, %v", len(found), err)
	}
}

func TestEveryPageIsWalkedAndTheWalkGoesOn(t *testing.T) {
	c := client(t, catalogue(t, 500))
	var sizes []int
	var third string
	err := c.EachMarkets(t.Context(), false, "", func(p gamma.Page) error {
		sizes = append(sizes, len(p.Markets))
		if len(sizes) == 2 {
			third = p.Next
		}
		return nil
	})
	if err != nil || !slices.Equal(sizes, []int{100, 100, 100, 33}) {
		t.Errorf("pages of %v, %v", sizes, err)
	}
	sizes = nil
	if err := c.EachMarkets(t.Context(), false, third, func(p gamma.Page) error { sizes = append(sizes, len(p.Markets)); return nil }); err != nil || !slices.Equal(sizes, []int{100, 33}) {
		t.Errorf("from the third page on, pages of %v, %v", sizes, err)
	}
	enough := errors.New("enough")
	if err := c.EachMarkets(t.Context(), true, "", func(gamma.Page) error { return enough }); !errors.Is(err, enough) {
		t.Error(err)
	}
}

// TestPagesThatAreNotBelieved: each is refused with its reason, and no record of it is returned.
func TestPagesThatAreNotBelieved(t *testing.T) {
	var foreign *pages.ForeignError
	var loop *pages.LoopError
	var shape *pages.ShapeError
	page := func(next string, rows ...string) string {
		return `{"markets":[` + strings.Join(rows, ",") + `],"next_cursor":"` + next + `"}`
	}
	for name, tc := range map[string]struct {
		answers []string // by page; the last is repeated
		ids     bool     // requested by token
		want    any
		given   int // markets before the error
	}{
		"filter ignored":      {answers: []string{page("", row(1, false), row(2, false))}, ids: true, want: &foreign},
		"closed ignored":      {answers: []string{page("", row(1, false), row(2, true))}, want: &foreign},
		"the cursor stays":    {answers: []string{page("a", row(1, false)), page("a", row(2, false))}, want: &loop, given: 1},
		"the cursor is first": {answers: []string{page("a", row(1, false)), page("b", row(2, false)), page("a", row(4, false))}, want: &loop, given: 2},
		"the page repeats":    {answers: []string{page("a", row(1, false)), page("b", row(1, false)), page("c", row(1, false))}, want: &loop, given: 1},
		"no list":             {answers: []string{`{"next_cursor":""}`}, want: &shape},
		"another list":        {answers: []string{`{"events":[],"next_cursor":""}`}, want: &shape},
		"an array":            {answers: []string{`[]`}, want: &shape},
	} {
		asked, given := 0, 0
		c := client(t, func(w http.ResponseWriter, _ *http.Request) {
			asked++
			upstreamtest.Say(w, tc.answers[min(asked, len(tc.answers))-1])
		})
		var err error
		if tc.ids {
			var found []gamma.Market
			found, err = c.ByTokens(t.Context(), []string{"1002"})
			given = len(found)
		} else {
			err = c.EachMarkets(t.Context(), false, "", func(p gamma.Page) error { given += len(p.Markets); return nil })
		}
		if !errors.As(err, tc.want) || given != tc.given {
			t.Errorf("%s: %d markets and %v", name, given, err)
		}
	}
}

func TestRecordsThatTheFeedRejectsAreTold(t *testing.T) {
	draft := strings.Replace(row(1, false), condition(1).String(), "", 1)
	c := client(t, func(w http.ResponseWriter, _ *http.Request) {
		upstreamtest.Say(w, `{"markets":[`+draft+`,17,`+row(2, false)+`],"next_cursor":null}`)
	})
	var bad, good int
	err := c.EachMarkets(t.Context(), false, "", func(p gamma.Page) error {
		for _, m := range p.Markets {
			if m.Bad != nil {
				bad++
			} else {
				good++
			}
		}
		return nil
	})
	if err != nil || bad != 2 || good != 1 {
		t.Errorf("%d bad, %d good, %v", bad, good, err)
	}
}

func TestEventsHaveTheirMarkets(t *testing.T) {
	event := func(id, closed string, rows ...string) string {
		return `{"id":"` + id + `","slug":"e` + id + `","title":"E","closed":` + closed + `,"tags":[{"slug":"weather"}],"markets":[` + strings.Join(rows, ",") + `]}`
	}
	answer := `{"events":[` + event("7", "false", row(1, false), row(2, true)) + `],"next_cursor":""}`
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/events/keyset" {
			t.Errorf("requested %s", r.URL)
		}
		upstreamtest.Say(w, answer)
	})
	err := c.EachEvents(t.Context(), false, "", func(p gamma.Page) error {
		e := p.Events[0]
		if e.ID != "7" || len(e.Markets) != 2 || e.Markets[1].EventSlug != "e7" || e.Markets[0].Category != "weather" || !*e.Markets[1].Closed {
			t.Errorf("%+v", e)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	var foreign *pages.ForeignError
	if err := c.EachEvents(t.Context(), true, "", func(gamma.Page) error { return nil }); !errors.As(err, &foreign) {
		t.Errorf("open events among closed ones: %v", err)
	}
}

// TestCapturedRecords: captured events and markets are read, if they are next to the checkout.
func TestCapturedRecords(t *testing.T) {
	path := testfiles.Captured(t, "G_live", "gamma", "gamma_event.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, func(w http.ResponseWriter, _ *http.Request) {
		upstreamtest.Say(w, `{"events":`+string(b)+`,"next_cursor":""}`)
	})
	n := 0
	err = c.EachEvents(t.Context(), false, "", func(p gamma.Page) error {
		for _, e := range p.Events {
			for _, m := range e.Markets {
				n++
				if m.Bad != nil || len(m.TokenIDs) != 2 || m.EventID != e.ID {
					t.Errorf("%+v", m)
				}
			}
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Errorf("%d markets, %v", n, err)
	}
}
