package main

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"pmx/http/wire"
)

// busyMarkets is the number of markets, those with the most fills, for which each response is requested once.
const busyMarkets = 400

// busy are responses about one market or event that have not been requested in the epoch before.
var busy = []struct {
	what, path string
	next       bool // the page after the first; only it is timed
}{
	{what: "candles by hour", path: "/market/{condition_id}/candles"},
	{what: "largest holders", path: "/market/{condition_id}/holders"},
	{what: "the second page of fills", path: "/market/{condition_id}/trades?limit=25", next: true},
	{what: "traders of an event", path: "/event/{event_id}/traders"},
}

// askBusy times the first responses for the busiest markets, and for their events, one after the
// other.
func (b *bench) askBusy(s *service) error {
	catalog := s.keeper.Snapshot().Catalog
	ids := make([]int32, catalog.Len())
	for i := range ids {
		ids[i] = int32(i)
	}
	trades := func(id int32) int64 { return catalog.Figures(id).Trades }
	slices.SortFunc(ids, func(x, y int32) int { return cmp.Compare(trades(y), trades(x)) })
	ids = ids[:min(len(ids), busyMarkets)]
	if len(ids) == 0 {
		return nil
	}
	for _, x := range busy {
		if !strings.Contains(x.path, b.Path) {
			continue
		}
		paths, err := s.busyPaths(x.path, x.next, ids)
		if err != nil {
			return err
		}
		if len(paths) == 0 {
			continue
		}
		var all []time.Duration
		var sum time.Duration
		for i, path := range paths {
			took, err := timed(func() error { return s.read(path, s.keys[i%len(s.keys)], new(struct{})) })
			if err != nil {
				return err
			}
			all, sum = append(all, took), sum+took
		}
		slices.Sort(all)
		b.add(fmt.Sprintf("%s, first request, the %d busiest", x.what, len(paths)),
			fmt.Sprintf("%s/s of one client, p50 %s, p99 %s, at most %s", count(int64(float64(len(all))/sum.Seconds())), short(median(all)), short(all[len(all)*99/100]), short(all[len(all)-1])),
			fmt.Sprintf("%s to %s fills a market", count(trades(ids[len(ids)-1])), count(trades(ids[0]))), "", "p99 ≤ 5 ms")
	}
	return nil
}

// busyPaths returns the paths of a form for some markets or their events, each once; with next,
// those of the second pages.
func (s *service) busyPaths(form string, next bool, ids []int32) (paths []string, err error) {
	for _, id := range ids {
		m := s.keeper.Snapshot().Catalog.Market(id)
		if m.EventKey() == "" && strings.Contains(form, "{event_id}") {
			continue
		}
		path := wire.Base + strings.NewReplacer("{condition_id}", m.Condition.String(), "{event_id}", url.PathEscape(m.EventKey())).Replace(form)
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	if next {
		return s.nextPages(paths)
	}
	return paths, nil
}
