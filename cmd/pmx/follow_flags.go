package main

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"pmx/data/upstream/channel"
	"pmx/data/upstream/fetch"
)

// followFlags say which sources are followed, and how.
type followFlags struct {
	RPC       []string      `name:"rpc" help:"Providers of Polygon's logs: URLs of JSON-RPC, preferably two, of different companies. Keep keys out of the process list: set PMX_RPC or PMX_SYNC_RPC." placeholder:"URL" secret:""`
	RPCRate   float64       `name:"rpc-rate" help:"Maximum number of requests a second to each provider." default:"5" placeholder:"N"`
	LookEvery time.Duration `name:"look-every" help:"How often to check for new blocks. 0: as soon as they appear, about 70,000 requests a day; 2s: 43,200, and fills are seen up to two seconds later." default:"0s" placeholder:"DURATION"`
	Contact   string        `help:"E-mail address or web page of the operator. It is required, and sent with every request." placeholder:"TEXT"`
	FromBlock int64         `help:"First block to follow. By default, following continues where it stopped; the first time it starts at the block of the newest fill, or a day ago if there are no fills." placeholder:"N"`
	Only      []string      `help:"Follow only these sources: ${enum}." enum:"chain,markets,trades,quotes,newest,weather" placeholder:"SOURCE"`
	At        string        `help:"Use this server, started by pmx replay, for all sources and for two nodes of the chain." placeholder:"URL"`

	Gamma    string `help:"The venue's catalogue." default:"https://gamma-api.polymarket.com" placeholder:"URL"`
	CLOB     string `name:"clob" help:"The venue's order books." default:"https://clob.polymarket.com" placeholder:"URL"`
	DataAPI  string `name:"data-api" help:"The venue's data API." default:"https://data-api.polymarket.com" placeholder:"URL"`
	Channel  string `help:"The venue's websocket of quotes; empty: order books are polled." default:"wss://ws-subscriptions-clob.polymarket.com/ws/market" placeholder:"URL"`
	Activity string `help:"The venue's websocket of newest trades, which a server shows until they are final; empty: the venue's list of trades is polled." default:"wss://ws-live-data.polymarket.com" placeholder:"URL"`

	weatherFlags
}

// Lanes of sources that are followed.
const (
	chainLane   = "chain"
	marketsLane = "markets"
	quotesLane  = "quotes"
)

// Limits of --look-every. A finalized block is seen that much later, and the status is not green
// above a minute.
const (
	leastLook = 100 * time.Millisecond
	mostLook  = time.Minute
)

// followed reports whether a lane is followed.
func (f *followFlags) followed(lane string) bool {
	return len(f.Only) == 0 || slices.Contains(f.Only, lane)
}

// check returns what is wrong with the flags, whose names start with prefix, and points everything
// at --at if it is set.
func (f *followFlags) check(prefix string) error {
	if err := f.redirect(); err != nil {
		return wrong(prefix+"at", ": %w", err)
	}
	switch {
	case strings.TrimSpace(f.Contact) == "":
		return wrong(prefix+"contact", " is missing: give the operator's address, such as you@example.org; it is sent to the sources, so that they can get in touch before they block")
	case len(f.RPC) == 0 && slices.Contains(f.Only, chainLane):
		return wrong(prefix+"rpc", " is missing: the chain cannot be followed without a provider of its logs")
	case f.RPCRate <= 0:
		return wrong(prefix+"rpc-rate", " %g: give how many requests a second each provider gets", f.RPCRate)
	case f.LookEvery != 0 && (f.LookEvery < leastLook || f.LookEvery > mostLook):
		return wrong(prefix+"look-every", " %s: give %s to %s, or 0 to look as blocks come", f.LookEvery, leastLook, mostLook)
	case f.FromBlock < 0:
		return wrong(prefix+"from-block", " %d: give the number of a block", f.FromBlock)
	case len(f.RPC) > 0 && slices.Contains(f.Only, tradesLane):
		return wrong(prefix+"only", " trades is the venue's list of trades, which replaces the chain: with --%srpc, name chain instead", prefix)
	case slices.Contains(f.Only, tradesLane) && !f.followed(marketsLane):
		return wrong(prefix+"only", " trades needs markets, which says whose trades to list: name both")
	case slices.Contains(f.Only, quotesLane) && !f.followed(marketsLane):
		return wrong(prefix+"only", " quotes needs markets, which finds the open markets: name both")
	}
	if err := fetch.CheckContact(f.Contact); err != nil {
		return wrong(prefix+"contact", ": %w", err)
	}
	return f.checkURLs(prefix)
}

// checkURLs returns an error for a flag whose URL is invalid. The error does not contain the URL,
// which may have a key.
func (f *followFlags) checkURLs(prefix string) error {
	for i, u := range f.RPC {
		err := fetch.CheckURL(u)
		switch first := slices.Index(f.RPC, u); {
		case err != nil && len(f.RPC) > 1:
			return wrong(prefix+"rpc", ", number %d of its URLs: %w", i+1, err)
		case err != nil:
			return wrong(prefix+"rpc", ": %w", err)
		case first < i:
			return wrong(prefix+"rpc", ", URL number %d repeats number %d: two different providers are needed to find what one of them leaves out", i+1, first+1)
		}
	}
	for _, own := range []struct{ flag, url string }{{"gamma", f.Gamma}, {"clob", f.CLOB}, {"data-api", f.DataAPI}, {"openmeteo", f.OpenMeteo}, {"metar", f.METAR},
		{"nws", f.NWS}} {
		if err := fetch.CheckURL(own.url); err != nil {
			return wrong(prefix+own.flag, ": %w", err)
		}
	}
	for _, own := range []struct{ flag, url string }{{"channel", f.Channel}, {"activity", f.Activity}} {
		if own.url == "" { // its data is polled instead
			continue
		}
		if err := channel.CheckURL(own.url); err != nil {
			return wrong(prefix+own.flag, ": %w", err)
		}
	}
	return nil
}

// redirect points every source at the server of --at.
func (f *followFlags) redirect() error {
	if f.At == "" {
		return nil
	}
	u, err := url.Parse(f.At)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("give the URL of a server, such as http://127.0.0.1:8091")
	}
	base := strings.TrimSuffix(u.String(), "/")
	if len(f.RPC) == 0 && !slices.Contains(f.Only, tradesLane) {
		f.RPC = []string{base + "/rpc/1", base + "/rpc/2"}
	}
	f.Gamma, f.CLOB, f.DataAPI = base+"/gamma", base+"/clob", base+"/data"
	socket := "ws" + strings.TrimPrefix(base, "http")
	f.Channel, f.Activity = socket+"/ws/market", socket+"/rtds"
	f.OpenMeteo, f.METAR, f.NWS = base+"/openmeteo", base+"/metar", base+"/nws"
	return nil
}
