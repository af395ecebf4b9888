package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pmx/http/wire"
)

// nextPages is the number of lists whose second page is requested.
const nextPages = 500

// explored are requests of the explorer's pages beyond the basic form of an endpoint, with query
// strings that are used in turn.
var explored = []struct {
	what, path string
	turns      []string // queries
	next       bool     // the page after the first
}{
	{what: "candles of a market by hour", path: "/market/{condition_id}/candles", turns: []string{"interval=1h"}},
	{what: "by 6 hours and by day", path: "/market/{condition_id}/candles", turns: []string{"interval=6h&outcome=0", "interval=1d"}},
	{what: "largest holders, shorts", path: "/market/{condition_id}/holders", turns: []string{"", "side=short", "outcome=0&limit=10"}},
	{what: "fills of a market", path: "/market/{condition_id}/trades", turns: []string{"limit=25"}},
	{what: "the next page", path: "/market/{condition_id}/trades", turns: []string{"limit=25"}, next: true},
	{what: "markets of a wallet, sorted and filtered", path: "/trader/{address}/markets", turns: []string{"sort=abs_real_pnl&positions=false&limit=25",
		"sort=resolved_at&status=resolved&order=asc&positions=false&limit=25", "category=sports&sort=volume&positions=false&limit=25"}},
	{what: "the next page", path: "/trader/{address}/markets", turns: []string{"sort=abs_real_pnl&positions=false&limit=1"}, next: true},
	{what: "categories of a wallet", path: "/trader/{address}/categories", turns: []string{""}},
	{what: "two wallets compared, by day", path: "/trader/compare?address={address}&address={address}", turns: []string{"series=daily&days=90"}},
	{what: "histories of all indices", path: "/pmx-index/histories", turns: []string{"interval=1d&limit=90"}},
	{what: "one search for all kinds", path: "/search", turns: queries["/search"]},
	{what: "90 days of the status", path: "/status/history", turns: []string{"days=90"}},
	{what: "a day's observations", path: "/weather/city/{city}/observations", turns: []string{"date={date}"}},
	{what: "what a day's market implied", path: "/weather/city/{city}/implied", turns: []string{"date={date}", "date={date}&metric=tmin", "date={date}&include=prices"}},
	{what: "large orders of a market by the hour of 30 days", path: "/whales/flow?market_id={condition_id}", turns: []string{"period=30d&interval=1h&limit=1"}},
	{what: "leaderboard of a category with split and sparks", path: "/leaderboard/traders", turns: []string{"category=sports&include=split&include=previous_rank&include=spark&limit=50"}},
}

// explorer measures the requests of the explorer's pages in the same way as endpoints, and the
// first request for a leaderboard of a category, which is computed once per epoch.
func (b *bench) explorer() error {
	s, err := b.serve("large")
	if err != nil {
		return err
	}
	s.keeper.Settle()
	return errors.Join(b.explore(s), s.close())
}

func (b *bench) explore(s *service) error {
	if strings.Contains("/leaderboard/traders", b.Path) {
		if err := b.firstLeaderboards(s); err != nil {
			return err
		}
	}
	// After a start the rows of leaderboards are read once in the background, which takes processor
	// time: wait for that before measuring.
	if err := s.awaitLeaderboards(b.ctx); err != nil {
		return err
	}
	if err := b.askBusy(s); err != nil {
		return err
	}
	pick := newPicker(s)
	for _, x := range explored {
		if !strings.Contains(x.path, b.Path) {
			continue
		}
		paths := pick.explored(x.path, x.turns)
		if x.next {
			var err error
			if paths, err = s.nextPages(paths[:min(len(paths), nextPages)]); err != nil {
				return fmt.Errorf("%s: %w", x.path, err)
			}
		}
		if len(paths) == 0 {
			b.add(x.what, "not measured: the venue has nothing to request", "", "", "")
			continue
		}
		if err := b.endpoint(s, x.what, paths); err != nil {
			return fmt.Errorf("%s: %w", x.path, err)
		}
	}
	return nil
}

// explored fills in the placeholders of a path with random values, and uses query strings in turn.
func (p *picker) explored(form string, turns []string) (paths []string) {
	join := "?"
	if strings.Contains(form, "?") {
		join = "&"
	}
	for i := range manyPaths {
		at := form
		if query := turns[i%len(turns)]; query != "" {
			at += join + query
		}
		for strings.Contains(at, "{address}") {
			at = strings.Replace(at, "{address}", p.wallet(), 1)
		}
		city, date, _ := strings.Cut(one(p.rng, p.city), "/")
		at = strings.NewReplacer("{condition_id}", one(p.rng, p.conc), "{city}", city, "{date}", date).Replace(at)
		if strings.Contains(at, "//") || strings.Contains(at, "date=&") || strings.HasSuffix(at, "date=") {
			return nil // the venue has no values for it
		}
		paths = append(paths, wire.Base+at)
		if !strings.ContainsAny(form, "{") && i+1 == len(turns) {
			break
		}
	}
	return paths
}

// nextPages returns the paths of the second pages of lists that have one.
func (s *service) nextPages(lists []string) (next []string, err error) {
	for i, list := range lists {
		var page struct {
			Cursor *string `json:"next_cursor"`
		}
		if err := s.read(list, s.keys[i%len(s.keys)], &page); err != nil {
			return nil, err
		}
		if page.Cursor != nil {
			next = append(next, list+"&cursor="+url.QueryEscape(*page.Cursor))
		}
	}
	return next, nil
}

// read requests one response.
func (s *service) read(path, key string, into any) error {
	req, err := http.NewRequest(http.MethodGet, "http://"+s.addr+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set(wire.KeyHeader, key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode == http.StatusServiceUnavailable {
		return fmt.Errorf("%s: %w", path, errBusy)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d", path, res.StatusCode)
	}
	return json.NewDecoder(res.Body).Decode(into)
}

// errBusy is returned for a response that asks to try again.
var errBusy = errors.New("status 503")

// firstLeaderboards times the first request for a leaderboard in an epoch. Before that, it times
// how long the very first one waits for the rows of all leaderboards, which the server reads in the
// background.
func (b *bench) firstLeaderboards(s *service) error {
	took, err := timed(func() error { return s.awaitLeaderboards(b.ctx) })
	if err != nil {
		return err
	}
	b.add("rows of all leaderboards, read in the background: the first leaderboard waits at most", fmt.Sprint(short(took)), count(b.Fills)+" fills", "", "")
	for _, period := range []string{"1d", "7d", "30d"} {
		var taken []time.Duration
		for i, category := range []string{"sports", "politics", "crypto", "weather", "culture"} {
			var page struct{ Data []struct{ Rank int } }
			took, err := timed(func() error {
				return s.read(wire.Base+"/leaderboard/traders?include=split&include=previous_rank&include=spark&limit=50&period="+period+"&category="+category, s.keys[i], &page)
			})
			if err != nil {
				return err
			}
			taken = append(taken, took)
		}
		b.add("first request for a leaderboard of a category, "+period+", with split, previous ranks and sparks",
			fmt.Sprintf("%s, at most %s", short(median(taken)), short(slices.Max(taken))), count(b.Fills)+" fills", "", "≤ 100 ms")
	}
	return nil
}
