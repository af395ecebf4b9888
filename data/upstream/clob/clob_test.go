package clob_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/data/upstream/clob"
	"pmx/data/upstream/pages"
	"pmx/data/upstream/upstreamtest"
)

// client returns a client of a server with the handler f.
func client(t *testing.T, f http.HandlerFunc) *clob.Client {
	t.Helper()
	return clob.New(upstreamtest.Host(t, "clob", f))
}

func market(n int) string {
	h := data.Hash{0: 1, 31: byte(n)}
	return fmt.Sprintf(`{"condition_id":"%s","question_id":"0x%02x","question":"Q","closed":true,"tokens":[{"token_id":"%d","outcome":"Yes","price":1,"winner":true},{"token_id":"%d","outcome":"No","price":0,"winner":false}]}`,
		h, n, 2*n, 2*n+1)
}

func cursor(at int) string { return base64.StdEncoding.EncodeToString([]byte(strconv.Itoa(at))) }

func TestMarketsFromAKeptCursor(t *testing.T) {
	have := 5 // markets; a page has two
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		b, err := base64.StdEncoding.DecodeString(r.URL.Query().Get("next_cursor"))
		at, errNumber := strconv.Atoi(string(b))
		if err != nil || errNumber != nil || r.URL.Path != "/markets" {
			t.Errorf("requested %s", r.URL)
		}
		var rows []string
		for n := at; n < min(at+2, have); n++ {
			rows = append(rows, market(n+1))
		}
		next := cursor(at + 2)
		if at+2 >= have {
			next = "LTE="
		}
		upstreamtest.Say(w, fmt.Sprintf(`{"data":[%s],"next_cursor":"%s","limit":2,"count":%d}`, strings.Join(rows, ","), next, len(rows)))
	})
	read := func(from string) (ids []int, last string) {
		t.Helper()
		err := c.EachMarkets(t.Context(), from, func(p clob.Page) error {
			for _, m := range p.Markets {
				if m.Bad != nil || m.Resolution == nil {
					t.Errorf("%+v", m)
				}
				ids = append(ids, int(m.Condition[31]))
			}
			last = p.Cursor
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return ids, last
	}
	ids, last := read(clob.Start)
	if !slices.Equal(ids, []int{1, 2, 3, 4, 5}) || last != cursor(4) {
		t.Errorf("%v, and the cursor of the last page is %s", ids, last)
	}
	have = 8
	if ids, last = read(last); !slices.Equal(ids, []int{5, 6, 7, 8}) || last != cursor(6) {
		t.Errorf("later %v, and the cursor of the last page is %s", ids, last)
	}
}

func TestPagesOfMarketsThatAreNotBelieved(t *testing.T) {
	var loop *pages.LoopError
	var shape *pages.ShapeError
	page := func(next string, n int) string { return `{"data":[` + market(n) + `],"next_cursor":"` + next + `"}` }
	for name, tc := range map[string]struct {
		answers []string
		want    any
	}{
		"a cursor that leads back": {[]string{page(cursor(1), 1), page(cursor(0), 2)}, &loop},
		"a page that repeats":      {[]string{page(cursor(1), 1), page(cursor(2), 1)}, &loop},
		"no cursor":                {[]string{page("", 1)}, &shape},
		"no list":                  {[]string{`{"next_cursor":"LTE="}`}, &shape},
		"an array":                 {[]string{`[]`}, &shape},
	} {
		asked := 0
		c := client(t, func(w http.ResponseWriter, _ *http.Request) {
			asked++
			upstreamtest.Say(w, tc.answers[min(asked, len(tc.answers))-1])
		})
		if err := c.EachMarkets(t.Context(), cursor(0), func(clob.Page) error { return nil }); !errors.As(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// books responds with the books of all requested tokens except 13, like the CLOB; a request in
// another format gets an empty list.
func books(t *testing.T, sizes *[]int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var asked []struct {
			Token string `json:"token_id"`
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &asked) != nil || r.Method != http.MethodPost || r.URL.Path != "/books" {
			upstreamtest.Say(w, "[]")
			return
		}
		*sizes = append(*sizes, len(asked))
		if len(asked) > 500 {
			t.Errorf("%d books at once", len(asked))
		}
		var rows []string
		for _, a := range asked {
			if a.Token != "13" {
				rows = append(rows, `{"market":"`+data.Hash{1: 1}.String()+`","asset_id":"`+a.Token+`","timestamp":"1703875200123",
					"bids":[{"price":"0.48","size":"100"},{"price":"0.50","size":"0"},{"price":"0.49","size":"1"}],
					"asks":[{"price":"0.53","size":"90.00"},{"price":"0.52","size":"0.01"}],"last_trade_price":""}`)
			}
		}
		upstreamtest.Say(w, "["+strings.Join(rows, ",")+"]")
	}
}

func TestBooks(t *testing.T) {
	var sizes []int
	c := client(t, books(t, &sizes))
	var tokens []string
	for n := range 1200 {
		tokens = append(tokens, strconv.Itoa(n))
	}
	got, err := c.Books(t.Context(), tokens)
	if err != nil || len(got) != 1199 || !slices.Equal(sizes, []int{500, 500, 200}) {
		t.Fatalf("%d books by requests of %v, %v", len(got), sizes, err)
	}
	b := got[0]
	if b.Bid == nil || *b.Bid != 490_000 || b.Ask == nil || *b.Ask != 520_000 || b.Last != nil || !b.At.Equal(time.UnixMilli(1703875200123)) || b.Condition != (data.Hash{1: 1}) {
		t.Errorf("%+v", b)
	}
	if _, err := c.Books(t.Context(), []string{"13"}); !errors.Is(err, clob.ErrNoBooks) {
		t.Errorf("no book at all: %v", err)
	}
}

func TestBooksThatAreNotBelieved(t *testing.T) {
	var foreign *pages.ForeignError
	var shape *pages.ShapeError
	book := func(rest string) string { return `{"asset_id":"7"` + rest + `}` }
	for answer, want := range map[string]any{
		"[" + strings.Replace(book(""), "7", "8", 1) + "]":        &foreign,
		"[" + book("") + "," + book("") + "]":                     &foreign,
		"[" + book(`,"bids":[{"price":"1.2","size":"1"}]`) + "]":  &shape,
		"[" + book(`,"bids":[{"price":"","size":"1"}]`) + "]":     &shape,
		"[" + book(`,"asks":[{"price":"0.2","size":"-1"}]`) + "]": &shape,
		"[" + book(`,"timestamp":"soon"`) + "]":                   &shape,
		"[" + book(`,"market":"0x12"`) + "]":                      &shape,
		"[{}]":                                                    &shape,
		`{"error":"no books"}`:                                    &shape,
	} {
		c := client(t, func(w http.ResponseWriter, _ *http.Request) { upstreamtest.Say(w, answer) })
		if got, err := c.Books(t.Context(), []string{"7"}); !errors.As(err, want) || got != nil {
			t.Errorf("%s: %v, %v", answer, got, err)
		}
	}
}

// TestCapturedAnswers: captured pages and books are read, if they are next to the checkout.
func TestCapturedAnswers(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(testfiles.Captured(t, "G_live", "clob_rest", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	page := read("py_markets.json")
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/books" {
			upstreamtest.Say(w, "["+read("py_book.json")+"]")
		} else if r.URL.Query().Get("next_cursor") == clob.Start {
			upstreamtest.Say(w, page)
		} else {
			upstreamtest.Say(w, `{"data":[],"next_cursor":"LTE="}`)
		}
	})
	n := 0
	if err := c.EachMarkets(t.Context(), clob.Start, func(p clob.Page) error {
		for _, m := range p.Markets {
			n++
			if m.Bad != nil {
				t.Errorf("%s: %v", m.Raw, m.Bad)
			}
		}
		return nil
	}); err != nil || n != 100 {
		t.Errorf("%d markets, %v", n, err)
	}
	got, err := c.Books(t.Context(), []string{"23360939988679364027624185518382759743328544433592111535569478055890815567848"})
	if err != nil || len(got) != 1 || got[0].Bid == nil || *got[0].Bid != 100_000 {
		t.Errorf("%+v, %v", got, err)
	}
}
