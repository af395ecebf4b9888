package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/upstream/channel"
	"pmx/data/upstream/clob"
	"pmx/data/upstream/dataapi"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/gamma"
	"pmx/data/upstream/rpc"
	"pmx/engine"
	"pmx/engine/guard"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

// lane follows one source.
type lane struct {
	name string
	run  func(context.Context) error
	once func(context.Context) error // follows until it is up to date; nil if it never is
}

// follower follows a venue's sources.
type follower struct {
	lanes   []lane
	books   *fetch.Host // nil: not used
	hosts   []*fetch.Host
	chain   *follow.Chain         // nil: not followed
	markets *follow.Markets       // nil: not followed
	quotes  *follow.Quotes        // nil: not followed
	weather *follow.Weather       // nil: not followed
	trades  *follow.Trades        // nil: not followed
	audits  *follow.Audits        // nil: nothing to compare
	newest  *follow.Newest        // nil: not followed
	shown   *serving.NewestTrades // of newest; nil: none
	dataAPI *fetch.Host           // nil: not used
	tells   *follow.Teller
	log     zerolog.Logger
}

// followStatus is the output of sync status, by source.
type followStatus struct {
	Chain   *follow.ChainStatus    `json:"chain,omitempty"`
	Markets *follow.MarketsStatus  `json:"markets,omitempty"`
	Quotes  *follow.QuotesStatus   `json:"quotes,omitempty"`
	Weather []follow.WeatherStatus `json:"weather,omitempty"`
	Audits  *follow.AuditStatus    `json:"audits,omitempty"`
	Trades  *follow.TradesStatus   `json:"trades,omitempty"`
	Newest  *follow.NewestStatus   `json:"newest,omitempty"`
}

// contractsOf returns the contracts that are followed: the built-in ones, and those of
// contracts.json in the data directory.
func contractsOf(dir engine.Dir) ([]chain.Contract, error) {
	path := underDir(dir, "contracts.json")
	text, err := data.ReadRegular(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	list, err := chain.Extended(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return list, nil
}

// Limits of requests to the hosts, well below what they allow.
var (
	nodeBudget  = fetch.Budget{Burst: 8, InFlight: 4}
	gammaBudget = fetch.Budget{PerSecond: 5, Burst: 10, InFlight: 4}
	clobBudget  = fetch.Budget{PerSecond: 5, Burst: 5, InFlight: 2}
	dataBudget  = fetch.Budget{PerSecond: 4, Burst: 8, InFlight: 2}
)

// newFollower makes the lanes; those that only show data and store nothing are made only for a
// server.
func (f *followFlags) newFollower(k *keeper.Keeper, log zerolog.Logger, watch *guard.Watch, serves bool) (*follower, error) {
	if err := k.NeedFills("to follow a venue"); err != nil {
		return nil, err
	}
	out := &follower{log: log, tells: &follow.Teller{Venue: k, Log: log}}
	if f.followed(marketsLane) {
		if err := f.addMarkets(out, k); err != nil {
			return nil, err
		}
	}
	if len(f.RPC) > 0 && f.followed(chainLane) {
		if err := f.addChain(out, k, watch); err != nil {
			return nil, err
		}
	}
	if out.markets != nil { // after the chain, which says which markets are wanted
		out.lanes = append(out.lanes, lane{marketsLane, out.markets.Run, out.markets.Once})
		out.tells.Add(func() []serving.Source { s := out.markets.Status(); return []serving.Source{s.Tell()} })
	}
	if out.chain == nil && out.markets != nil && f.followed(tradesLane) { // after the markets, whose trades they are
		f.addTrades(out, k)
	}
	if out.chain != nil {
		if err := f.addAudits(out, k); err != nil {
			return nil, err
		}
	}
	if f.followed(quotesLane) && out.markets != nil {
		f.addQuotes(out, k)
	}
	if serves && f.followed(newestLane) {
		if err := f.addNewest(out, k); err != nil {
			return nil, err
		}
	}
	if f.followed(weatherLane) {
		if err := f.addWeather(out, k, watch); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// host adds a host that requests are sent to.
func (f *followFlags) host(to *follower, name, base string, budget fetch.Budget) (*fetch.Host, error) {
	h, err := fetch.New(fetch.Options{Name: name, Base: base, Contact: f.Contact, Version: version, Budget: budget, Changed: func(err error) {
		if err != nil {
			to.log.Warn().Err(err).Str("host", name).Msg("host_fails")
			return
		}
		to.log.Info().Str("host", name).Msg("host_answers_again")
	}})
	if err == nil {
		to.hosts = append(to.hosts, h)
	}
	return h, err
}

// data returns the data API, which several sources use.
func (f *followFlags) data(to *follower) (_ *fetch.Host, err error) {
	if to.dataAPI == nil {
		to.dataAPI, err = f.host(to, "data-api", f.DataAPI, dataBudget)
	}
	return to.dataAPI, err
}

// addMarkets adds the catalogue of markets.
func (f *followFlags) addMarkets(to *follower, k *keeper.Keeper) error {
	catalogue, err := f.host(to, "gamma", f.Gamma, gammaBudget)
	if err != nil {
		return err
	}
	books, err := f.host(to, "clob", f.CLOB, clobBudget)
	if err != nil {
		return err
	}
	trades, err := f.data(to)
	if err != nil {
		return err
	}
	to.books = books
	ofBooks, ofTrades := books.Caller(), trades.Caller()
	o := follow.MarketOptions{Venue: k, Gamma: gamma.New(catalogue), CLOB: clob.New(ofBooks), Data: dataapi.New(ofTrades), Log: to.log, Now: time.Now}
	if len(f.RPC) > 0 && f.followed(chainLane) {
		o.Unseen = func(blocks ...int64) { to.chain.Recheck(blocks...) }
	}
	to.markets = follow.NewMarkets(o)
	to.tells.Asks(marketsLane, catalogue, ofBooks, ofTrades)
	return nil
}

// addQuotes adds bids, asks and last prices of the open markets.
func (f *followFlags) addQuotes(to *follower, k *keeper.Keeper) {
	books := to.books.Caller()
	to.tells.Asks(quotesLane, books)
	to.quotes = follow.NewQuotes(follow.QuoteOptions{Venue: k, Markets: to.markets, CLOB: clob.New(books), Log: to.log,
		Channel: f.channel(f.Channel)})
	to.lanes = append(to.lanes, lane{quotesLane, to.quotes.Run, nil})
	to.tells.Add(func() []serving.Source { s := to.quotes.Status(); return []serving.Source{s.Tell()} })
}

// channel returns the options of a websocket.
func (f *followFlags) channel(url string) channel.Options {
	return channel.Options{URL: url, Agent: fmt.Sprintf("pmx/%s (+%s)", version, strings.TrimSpace(f.Contact))}
}

// addWeather adds forecasts, reports and observations of the weather.
func (f *followFlags) addWeather(to *follower, k *keeper.Keeper, watch *guard.Watch) (err error) {
	to.weather, err = f.newWeather(k, to.log, watch, func(name, base string, budget fetch.Budget) (*fetch.Host, error) {
		h, err := f.host(to, name, base, budget)
		if err == nil {
			to.tells.Asks("weather "+name, h)
		}
		return h, err
	})
	if err != nil {
		return err
	}
	to.lanes = append(to.lanes, lane{weatherLane, to.weather.Run, to.weather.Once})
	to.tells.Add(func() []serving.Source {
		var all []serving.Source
		for _, s := range to.weather.Status() {
			all = append(all, s.Tell())
		}
		return all
	})
	return nil
}

// addChain adds the logs of the chain, which say which markets are wanted and resolved.
func (f *followFlags) addChain(to *follower, k *keeper.Keeper, watch *guard.Watch) error {
	contracts, err := contractsOf(k.DB().Dir())
	if err != nil {
		return err
	}
	o := follow.ChainOptions{Venue: k, Contracts: contracts, FromBlock: f.FromBlock, Every: f.LookEvery, Log: to.log, Watch: watch}
	for i, url := range f.RPC {
		budget := nodeBudget
		budget.PerSecond = f.RPCRate
		h, err := f.host(to, fmt.Sprintf("rpc %d", i+1), url, budget)
		if err != nil {
			return err
		}
		to.tells.Asks(chainLane, h)
		o.Nodes = append(o.Nodes, follow.NewNode(rpc.New(h)))
	}
	if to.markets != nil {
		o.Resolved = to.markets.Heard
	}
	fills := int64(0)
	o.Progress = func(s follow.ChainStatus) {
		if to.markets != nil && s.Fills > fills {
			to.markets.Wanted()
		}
		fills = s.Fills
	}
	if to.chain, err = follow.NewChain(o); err != nil {
		return err
	}
	to.lanes = append(to.lanes, lane{chainLane, to.chain.Run, to.chain.Once})
	to.tells.Add(func() []serving.Source { s := to.chain.Status(); return []serving.Source{s.Tell()} })
	return nil
}

// close closes the connections.
func (f *follower) close() {
	for _, h := range f.hosts {
		h.Close()
	}
}

// status returns the status of each source.
func (f *follower) status() followStatus {
	var s followStatus
	if f.chain != nil {
		c := f.chain.Status()
		s.Chain = &c
	}
	if f.markets != nil {
		m := f.markets.Status()
		s.Markets = &m
	}
	if f.quotes != nil {
		q := f.quotes.Status()
		s.Quotes = &q
	}
	if f.newest != nil {
		n := f.newest.Status()
		s.Newest = &n
	}
	if f.trades != nil {
		t := f.trades.Status()
		s.Trades = &t
	}
	if f.audits != nil {
		a := f.audits.Status()
		s.Audits = &a
	}
	if f.weather != nil {
		s.Weather = f.weather.Status()
	}
	return s
}

// laneRests is how long a lane pauses after an error before it starts again.
const laneRests = 30 * time.Second

// tasks returns the lanes of a server: one that fails is restarted and does not stop the others.
func (f *follower) tasks(watch *guard.Watch) (out []func(context.Context) error) {
	for _, l := range f.lanes {
		out = append(out, func(ctx context.Context) error {
			for ctx.Err() == nil {
				err := watch.Supervise(ctx, "follow "+l.name, l.run)
				if ctx.Err() != nil {
					break
				}
				f.log.Error().Err(err).Str("source", l.name).Msg("following stopped and starts again shortly")
				_ = guard.Sleep(ctx, laneRests) // the loop ends if ctx does
			}
			return nil
		})
	}
	return append(out, func(ctx context.Context) error { return watch.Supervise(ctx, "look after sources", f.tells.Run) })
}

// sources returns a function that returns the status of the followed sources; nil if there are
// none.
func (f *follower) sources() func() []serving.Source {
	if f == nil {
		return nil
	}
	return f.tells.Sources
}

// once follows every source until it is up to date. One that fails does not stop the others, except
// for a full disk; the error has all failures.
func (f *follower) once(ctx context.Context) (err error) {
	for _, l := range f.lanes {
		if l.once == nil {
			continue
		}
		failed := l.once(ctx)
		if failed != nil && !strings.HasPrefix(failed.Error(), l.name+": ") {
			failed = fmt.Errorf("%s: %w", l.name, failed)
		}
		err = errors.Join(err, failed)
		if ctx.Err() != nil || data.IsNoSpace(failed) {
			break
		}
	}
	return err
}

// newestTrades returns the trades to show; nil if none are followed.
func (f *follower) newestTrades() *serving.NewestTrades {
	if f == nil {
		return nil
	}
	return f.shown
}

// begins logs the sources and their hosts, without anything in addresses that may be secret; nil has none.
func (f *follower) begins() {
	if f == nil {
		return
	}
	names, hosts := make([]string, len(f.lanes)), make([]string, len(f.hosts))
	for i, l := range f.lanes {
		names[i] = l.name
	}
	for i, h := range f.hosts {
		hosts[i] = h.Name() + " " + h.Stats().Host
	}
	f.log.Info().Strs("sources", names).Strs("hosts", hosts).Msg("following the venue")
	if f.trades != nil {
		f.log.Warn().Msg(follow.TradesHoles)
	}
}
