package main

import (
	"context"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"pmx/cmd/bench/load"
	"pmx/data"
	"pmx/http/api"
	"pmx/http/wire"
)

const (
	eachLasting = 2 * time.Second
	manyPaths   = 5_000 // so many that no cache of equal requests is used
)

// queries are the query strings for endpoints that need more than a path.
var queries = map[string][]string{
	"/markets/search": {"q=will", "q=win+presid", "q=temperatur", "q=the", "q=bitcon"},
	"/screener":       {"sort=volume&limit=200", "category=politics&min_volume_24h=100", "min_price=0.2&max_price=0.8&sort=price"},
	"/stats/daily":    {"days=90"},
	"/leaderboard/traders": {"category=politics&include=split", "period=1d&sort=roi&min_resolved=20&include=spark&include=previous_rank",
		"period=30d&category=sports&sort=volume&offset=50"},
	"/search": {"q=will", "q=temp", "q=0x1a2b", "q=london", "q=elec"},
}

// bare are endpoints that are also measured without these queries: their first page is one of the
// encoded bodies.
var bare = []string{"/screener", "/leaderboard/traders"}

// endpoints measures every endpoint of the route table, idle and while files are imported and the
// background cycle runs, compared with a constant body of the same size from Fiber.
func (b *bench) endpoints() error {
	s, err := b.serve("large")
	if err != nil {
		return err
	}
	s.keeper.Settle() // nothing is measured in the first minute, in which a server still builds its files
	pick := newPicker(s)
	for _, r := range api.Routes() {
		if r.Method != http.MethodGet || r.Public || strings.Contains(r.Path, "{job_id}") || !strings.Contains(r.Path, b.Path) {
			continue
		}
		paths := pick.paths(r)
		if paths == nil {
			b.add(r.Path, "not measured: the venue has nothing to request", "", "", "")
			continue
		}
		if err := b.endpoint(s, r.Path, paths); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", r.Path, err), s.close())
		}
		if slices.Contains(bare, r.Path) {
			if err := b.endpoint(s, r.Path+", first page", []string{wire.Base + r.Path}); err != nil {
				return errors.Join(fmt.Errorf("%s: %w", r.Path, err), s.close())
			}
		}
	}
	return s.close()
}

func (b *bench) endpoint(s *service, name string, paths []string) error {
	quiet, floor, err := b.alternate(s, paths, eachLasting)
	if err != nil {
		return err
	}
	ours := fmt.Sprintf("%s/s, p50 %s, p99 %s", count(int64(quiet.PerSecond)), short(quiet.P50), short(quiet.P99))
	if !b.Quiet {
		var busy load.Result
		if err := b.underLoad(s, func() (err error) { busy, err = s.ask(b.ctx, paths); return err }); err != nil {
			return err
		}
		ours += fmt.Sprintf("; under import p99 %s (%s×)", short(busy.P99), ratio(busy.P99.Seconds(), quiet.P99.Seconds()))
	}
	b.add(name, ours,
		fmt.Sprintf("constant body of %s B: %s/s", count(quiet.Bytes/max(quiet.Requests, 1)), count(int64(floor.PerSecond))),
		ratio(quiet.PerSecond, floor.PerSecond), "p99 under import ≤ 2× quiet")
	return nil
}

func short(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

func (s *service) ask(ctx context.Context, paths []string) (load.Result, error) {
	return ask(ctx, load.Config{Addr: s.addr, Paths: paths, Keys: s.keys, Conns: s.conns, Duration: eachLasting})
}

// underLoad runs f while files of 10k fills are imported one after another and the background cycle
// compacts and checkpoints.
func (b *bench) underLoad(s *service, f func() error) error {
	ctx, cancel := context.WithCancel(b.ctx)
	done := make(chan error, 1)
	go func() {
		var err error
		for round := 0; ctx.Err() == nil && err == nil; round++ {
			if _, err = b.freshRound(s, round); err == nil {
				err = s.keeper.Cycle(b.ctx)
			}
		}
		done <- err
	}()
	err := f()
	cancel()
	return errors.Join(err, <-done)
}

// picker fills in the parameters of routes with random values of the venue.
type picker struct {
	s    *service
	rng  *mrand.Rand
	conc []string // condition ids
	evts []string
	city []string // followed by a slash and a local day
}

func newPicker(s *service) *picker {
	p := &picker{s: s, rng: mrand.New(mrand.NewPCG(3, 4))}
	catalog := s.keeper.Snapshot().Catalog
	for range manyPaths {
		if m := catalog.Market(int32(p.rng.IntN(max(catalog.Len(), 1)))); m != nil {
			p.conc = append(p.conc, m.Condition.String())
			if key := m.EventKey(); key != "" {
				p.evts = append(p.evts, url.PathEscape(key))
			}
		}
	}
	if desk := p.s.keeper.Snapshot().Desk; desk != nil {
		for _, c := range desk.Cities {
			for ahead := range data.Date(3) {
				p.city = append(p.city, c.City.Slug+"/"+(c.Today+ahead).String())
			}
		}
	}
	return p
}

func (p *picker) wallet() string {
	snap := p.s.keeper.Snapshot()
	return snap.WalletAt(data.WalletID(p.rng.IntN(snap.Wallets()))).String()
}

// paths returns requests for a route; nil if the venue has no values for it.
func (p *picker) paths(r api.Route) []string {
	var out []string
	n := 1
	if strings.Contains(r.Path, "{") || queries[r.Path] != nil || r.Path == "/trader/compare" {
		n = manyPaths
	}
	for i := range n {
		at := r.Path
		for name, choose := range map[string]func() string{
			"{address}":      p.wallet,
			"{condition_id}": func() string { return one(p.rng, p.conc) },
			"{event_id}":     func() string { return one(p.rng, p.evts) },
			"{name}":         func() string { return one(p.rng, indices(r)) },
			"{city}/{date}":  func() string { return one(p.rng, p.city) },
			"{city}":         func() string { return path.Dir(one(p.rng, p.city)) },
		} {
			if strings.Contains(r.Path, name) && (name != "{city}" || !strings.Contains(r.Path, "{date}")) {
				value := choose()
				if value == "" || value == "." {
					return nil
				}
				at = strings.ReplaceAll(at, name, value)
			}
		}
		if strings.Contains(at, "{") {
			return nil
		}
		switch list := queries[r.Path]; {
		case r.Path == "/trader/compare":
			at += "?address=" + p.wallet() + "&address=" + p.wallet() + []string{"", "&series=daily"}[i%2]
		case list != nil && list[i%len(list)] != "":
			at += "?" + list[i%len(list)]
		}
		out = append(out, wire.Base+at)
	}
	return out
}

func one(rng *mrand.Rand, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[rng.IntN(len(list))]
}

// indices returns the index names for a route's path.
func indices(r api.Route) []string {
	at := slices.IndexFunc(r.Params, func(p *api.Param) bool { return p.Name == "name" })
	if at >= 0 && len(r.Params[at].Choices) > 0 {
		return r.Params[at].Choices
	}
	return []string{"PMX-Volume"}
}
