package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/upstream/clob"
	"pmx/data/upstream/dataapi"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/gamma"
	"pmx/data/upstream/rpc"
	"pmx/engine"
	"pmx/engine/guard"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
)

// followFlags say which sources are followed, and how.
type followFlags struct {
	RPC       []string `name:"rpc" help:"Providers of Polygon's logs: URLs of JSON-RPC, best two of different companies. Keep keys out of the process list: set PMX_RPC or PMX_SYNC_RPC." placeholder:"URL,…"`
	RPCRate   float64  `name:"rpc-rate" help:"Most requests a second to each provider." default:"5" placeholder:"N"`
	Contact   string   `help:"Who runs this: an address of mail or of a page. It is sent with every request; nothing is asked without." placeholder:"TEXT"`
	FromBlock int64    `help:"First block to follow from. By default the one of last time, else that of the newest fill, else that of a day ago." placeholder:"N"`
	Only      []string `help:"Follow these sources only: ${enum}." enum:"chain,markets" placeholder:"SOURCE,…"`
	Gamma     string   `help:"The venue's catalogue." default:"https://gamma-api.polymarket.com" placeholder:"URL"`
	CLOB      string   `name:"clob" help:"The venue's order books." default:"https://clob.polymarket.com" placeholder:"URL"`
	DataAPI   string   `name:"data-api" help:"The venue's data API." default:"https://data-api.polymarket.com" placeholder:"URL"`
}

// Sources that are followed.
const (
	chainLane   = "chain"
	marketsLane = "markets"
)

// nodeNames are what the names of the chain's hosts begin with.
const nodeNames = "rpc "

// followed tells whether a source is.
func (f *followFlags) followed(source string) bool {
	return len(f.Only) == 0 || slices.Contains(f.Only, source)
}

// check tells what is wrong with the flags; prefix is that of their names.
func (f *followFlags) check(prefix string) error {
	switch {
	case strings.TrimSpace(f.Contact) == "":
		return fmt.Errorf("--%scontact is missing: say who runs this, such as you@example.org; it is sent to the sources, so that they can write before they block", prefix)
	case len(f.RPC) == 0 && slices.Contains(f.Only, chainLane):
		return fmt.Errorf("--%srpc is missing: the chain cannot be followed without a provider of its logs", prefix)
	case f.RPCRate <= 0:
		return fmt.Errorf("--%srpc-rate %g: give how many requests a second each provider gets", prefix, f.RPCRate)
	case f.FromBlock < 0:
		return fmt.Errorf("--%sfrom-block %d: give the number of a block", prefix, f.FromBlock)
	case len(f.RPC) == 0 && !f.followed(marketsLane):
		return fmt.Errorf("there is nothing to follow: give --%srpc", prefix)
	}
	return nil
}

// lane is a source that is followed.
type lane struct {
	name string
	run  func(context.Context) error
	once func(context.Context) error // until it is up to date
}

// follower follows a venue's sources.
type follower struct {
	lanes   []lane
	hosts   []*fetch.Host
	chain   *follow.Chain   // nil: not followed
	markets *follow.Markets // nil: not followed
	log     zerolog.Logger
}

// followState is what sync status tells, by source.
type followState struct {
	Chain   *follow.ChainState   `json:"chain,omitempty"`
	Markets *follow.MarketsState `json:"markets,omitempty"`
}

// contractsOf are the contracts that are followed: the built-in ones, and those of
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

// Budgets of the hosts, well below what they allow.
var (
	nodeBudget  = fetch.Budget{Burst: 8, InFlight: 4}
	gammaBudget = fetch.Budget{PerSecond: 5, Burst: 10, InFlight: 4}
	clobBudget  = fetch.Budget{PerSecond: 5, Burst: 5, InFlight: 2}
	dataBudget  = fetch.Budget{PerSecond: 4, Burst: 8, InFlight: 2}
)

// newFollower makes the lanes; progress may be nil.
func (f *followFlags) newFollower(k *keeper.Keeper, log zerolog.Logger, watch *guard.Watch, progress func(follow.ChainState)) (*follower, error) {
	out := &follower{log: log}
	if f.followed(marketsLane) {
		if err := f.addMarkets(out, k); err != nil {
			return nil, err
		}
	}
	if len(f.RPC) > 0 && f.followed(chainLane) {
		if err := f.addChain(out, k, watch, progress); err != nil {
			return nil, err
		}
	}
	if out.markets != nil { // behind the chain, which tells what is wanted
		out.lanes = append(out.lanes, lane{marketsLane, out.markets.Run, out.markets.Once})
	}
	return out, nil
}

// host adds a host that is asked.
func (f *followFlags) host(to *follower, name, base string, budget fetch.Budget) (*fetch.Host, error) {
	h, err := fetch.New(fetch.Options{Name: name, Base: base, Contact: f.Contact, Version: version, Budget: budget})
	if err == nil {
		to.hosts = append(to.hosts, h)
	}
	return h, err
}

// addMarkets adds what is known of markets.
func (f *followFlags) addMarkets(to *follower, k *keeper.Keeper) error {
	catalogue, err := f.host(to, "gamma", f.Gamma, gammaBudget)
	if err != nil {
		return err
	}
	books, err := f.host(to, "clob", f.CLOB, clobBudget)
	if err != nil {
		return err
	}
	trades, err := f.host(to, "data-api", f.DataAPI, dataBudget)
	if err != nil {
		return err
	}
	to.markets = follow.NewMarkets(follow.MarketOptions{Venue: k, Gamma: gamma.New(catalogue), CLOB: clob.New(books), Data: dataapi.New(trades), Log: to.log, Now: time.Now})
	return nil
}

// addChain adds the logs of the chain, which tell of markets that are wanted and resolved.
func (f *followFlags) addChain(to *follower, k *keeper.Keeper, watch *guard.Watch, progress func(follow.ChainState)) error {
	contracts, err := contractsOf(k.DB().Dir())
	if err != nil {
		return err
	}
	o := follow.ChainOptions{Venue: k, Contracts: contracts, FromBlock: f.FromBlock, Log: to.log, Watch: watch}
	for i, url := range f.RPC {
		budget := nodeBudget
		budget.PerSecond = f.RPCRate
		h, err := f.host(to, fmt.Sprintf(nodeNames+"%d", i+1), url, budget)
		if err != nil {
			return err
		}
		o.Nodes = append(o.Nodes, follow.NewNode(rpc.New(h)))
	}
	if to.markets != nil {
		o.Resolved = to.markets.Heard
	}
	fills := int64(0)
	o.Progress = func(s follow.ChainState) {
		if to.markets != nil && s.Fills > fills {
			to.markets.Wanted()
		}
		fills = s.Fills
		if progress != nil {
			progress(s)
		}
	}
	if to.chain, err = follow.NewChain(o); err != nil {
		return err
	}
	to.lanes = append(to.lanes, lane{chainLane, to.chain.Run, to.chain.Once})
	return nil
}

// close gives the connections back.
func (f *follower) close() {
	for _, h := range f.hosts {
		h.Close()
	}
}

// state tells how each source stands.
func (f *follower) state() followState {
	var s followState
	if f.chain != nil {
		c := f.chain.State()
		s.Chain = &c
	}
	if f.markets != nil {
		m := f.markets.State()
		s.Markets = &m
	}
	return s
}

// laneRests is how long a lane that ended in an error rests before it begins again.
const laneRests = 30 * time.Second

// runs are the lanes as parts of a server: one that fails begins again, and ends no other.
func (f *follower) runs(watch *guard.Watch) (out []func(context.Context) error) {
	for _, l := range f.lanes {
		out = append(out, func(ctx context.Context) error {
			for ctx.Err() == nil {
				err := watch.Supervise(ctx, "follow "+l.name, l.run)
				if ctx.Err() != nil {
					break
				}
				f.log.Error().Err(err).Str("source", l.name).Msg("following ended and begins again in a while")
				timer := time.NewTimer(laneRests)
				select {
				case <-ctx.Done():
				case <-timer.C:
				}
				timer.Stop()
			}
			return nil
		})
	}
	return out
}

// once follows every source until it is up to date.
func (f *follower) once(ctx context.Context) error {
	for _, l := range f.lanes {
		if err := l.once(ctx); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}
