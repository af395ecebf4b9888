package api

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
	"pmx/rollups/serving/search"
)

const (
	// foundRows is the maximum number of rows of each kind in a search over all kinds: as many as
	// every plan shows.
	foundRows = 20
	// foundAmong is among how many markets, and wallets, the rows of a kind are searched.
	foundAmong = 200
	// leastPrefix is the minimum number of hexadecimal digits of an address to find wallets by.
	leastPrefix = 4
)

// foundKind is a kind of result of a search over all kinds.
type foundKind int

// The kinds, in the order of a reply.
const (
	foundEvent foundKind = iota
	foundMarket
	foundTrader
	foundCity
	foundKinds
)

func foundNames() []string { return []string{"event", "market", "trader", "city"} }

// The parameters of GET /search.
var (
	foundQ     = queryParam(true).about("words, or beginnings of words, of a title, as for `/markets/search`; a condition id; an address, or at least four of its first digits after `0x`; the beginning of a username or of a city's name")
	foundOf    = &Param{Name: "kind", Kind: Choice, Choices: foundNames(), Many: int(foundKinds), Doc: "kind to search for; if repeated, or separated by commas, all of these; if omitted, all kinds"}
	foundLimit = &Param{Name: "limit", Kind: Integer, Default: "8", Min: 1, Max: foundRows, Doc: "maximum number of rows of each kind"}
)

func searchAllRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/search", Section: wire.Market, MaxRows: foundRows, MaxItems: foundRows * int(foundKinds),
		Summary: "Search for events, markets, wallets and cities at once", serve: (*API).searchAll, Reply: wire.Series[wire.Found]{},
		Params: []*Param{foundQ, foundOf, foundLimit},
		Doc: "Short rows of every kind, in the order event, market, trader, city. Markets are those that `/markets/search` finds, in its " +
			"order; events are those with several markets, in the order of their best market among the first 200 found. Wallets are " +
			"found by address or by username and sorted by volume, largest first, then by address; if more than 200 match, only the " +
			"first 200 by address or username are considered. Cities are those of the weather desk, in the order of `/weather/cities`.",
	}
}

// searchAll answers GET /search.
func (a *API) searchAll(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	words, bad := call.words(foundQ)
	if bad != nil {
		return bad
	}
	text, n := strings.TrimSpace(call.value(foundQ).text), call.number(foundLimit)
	var rows []wire.Found
	if call.wantsFound(foundEvent) || call.wantsFound(foundMarket) {
		hits := v.marketsFound(words, text)
		if call.wantsFound(foundEvent) {
			rows = append(rows, v.eventsOf(hits, n)...)
		}
		if call.wantsFound(foundMarket) {
			for _, id := range hits[:min(n, len(hits))] {
				rows = append(rows, v.marketFound(id))
			}
		}
	}
	if call.wantsFound(foundTrader) {
		traders, err := a.tradersFound(v, text, n)
		if err != nil {
			return err
		}
		rows = append(rows, traders...)
	}
	if call.wantsFound(foundCity) {
		rows = append(rows, v.citiesFound(text, n)...)
	}
	e := envelope{tier: call.tier, maxRows: foundRows}
	mark, start := a.beginReply(call, v.asOf, e)
	call.buf = appendList(append(call.buf, `,"data":`...), len(rows), func(i int) wire.Found { return rows[i] })
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// wantsFound reports whether call requests a kind.
func (call *Call) wantsFound(kind foundKind) bool {
	none := true
	for v := range call.all(foundOf) {
		none = false
		if foundKind(v.n) == kind {
			return true
		}
	}
	return none
}

// marketsFound lists the best markets for words, or the one with the condition id text.
func (v *encodedSnapshot) marketsFound(words []string, text string) (ids []int32) {
	if condition, err := parseCondition(text); err == nil {
		if m := v.snap.Catalog.Find(condition); m != nil {
			return []int32{m.ID}
		}
		return nil
	}
	hits, _ := v.markets.find(words, nil, foundAmong)
	for _, h := range hits {
		ids = append(ids, h.id)
	}
	return ids
}

func (v *encodedSnapshot) marketFound(id int32) wire.Found {
	m, f := v.snap.Catalog.Market(id), v.snap.Catalog.Figures(id)
	return wire.Found{Kind: foundNames()[foundMarket], ID: m.Condition.String(), Title: textOrNull(m.Question), Subtitle: textOrNull(m.EventTitle),
		Category: textOrNull(m.Category), Status: textOrNull(string(m.Status())), Volume: &f.VolumeUSD}
}

// eventsOf lists the first n events of several markets that markets belong to.
func (v *encodedSnapshot) eventsOf(markets []int32, n int) (rows []wire.Found) {
	seen := map[string]bool{}
	for _, id := range markets {
		key := v.snap.Catalog.Market(id).EventKey()
		if key == "" || seen[key] || len(rows) == n {
			continue
		}
		seen[key] = true
		e := v.snap.Catalog.Event(key)
		if len(e.Markets) < 2 {
			continue
		}
		own := e.Slug
		if own == "" {
			own = e.ID
		}
		if own != key && seen[own] {
			continue
		}
		seen[own] = true
		rows = append(rows, wire.Found{Kind: foundNames()[foundEvent], ID: own, Title: textOrNull(e.Title), Category: textOrNull(e.Category),
			Status: textOrNull(string(e.Status())), Volume: &e.VolumeUSD})
	}
	return rows
}

// tradersFound lists the first n wallets that match text, by volume.
func (a *API) tradersFound(v *encodedSnapshot, text string, n int) (rows []wire.Found, err error) {
	list, err := a.walletsFound(v, text)
	if err != nil {
		return nil, err
	}
	var traders []serving.Trader
	for _, wallet := range list {
		if t, known := v.snap.Trader(wallet); known { // a newer one is not served yet
			traders = append(traders, t)
		}
	}
	slices.SortFunc(traders, func(x, y serving.Trader) int {
		if d := y.Totals.Volume() - x.Totals.Volume(); d != 0 {
			return int(min(max(d, -1), 1))
		}
		return bytes.Compare(x.Wallet[:], y.Wallet[:])
	})
	for _, t := range traders[:min(n, len(traders))] {
		volume := t.Totals.Volume()
		rows = append(rows, wire.Found{Kind: foundNames()[foundTrader], ID: t.Wallet.String(), Title: textOrNull(t.Name), Volume: &volume})
	}
	return rows, nil
}

// walletsFound lists wallets by address, or by the beginning of an address or a name.
func (a *API) walletsFound(v *encodedSnapshot, text string) ([]data.Address, error) {
	if wallet, err := parseWallet(text); err == nil {
		return []data.Address{wallet}, nil
	}
	key := "wallets " + strings.ToLower(text)
	if lo, hi, ok := addressRange(text); ok {
		return cachedRead(a, v, key, func(ctx context.Context) ([]data.Address, error) {
			return a.reader.WalletsBetween(ctx, lo, hi, foundAmong)
		})
	}
	if len(text) > 1 && text[0] == '0' && text[1]|0x20 == 'x' { // too short, too long, or a condition id
		return nil, nil
	}
	return cachedRead(a, v, key, func(ctx context.Context) ([]data.Address, error) { return a.reader.WalletsNamed(ctx, text, foundAmong) })
}

// addressRange is the first and the last address that begins as text does.
func addressRange(text string) (lo, hi data.Address, ok bool) {
	digits, prefixed := strings.CutPrefix(strings.ToLower(text), "0x")
	most := 2 * len(lo)
	if !prefixed || len(digits) < leastPrefix || len(digits) > most || strings.Trim(digits, hexDigits) != "" {
		return lo, hi, false
	}
	lo, errLo := data.ParseAddress("0x" + digits + strings.Repeat("0", most-len(digits)))
	hi, errHi := data.ParseAddress("0x" + digits + strings.Repeat("f", most-len(digits)))
	return lo, hi, errLo == nil && errHi == nil
}

// citiesFound lists the first n cities with a name, or a word of a name, that begins with text.
func (v *encodedSnapshot) citiesFound(text string, n int) (rows []wire.Found) {
	if v.snap.Desk == nil {
		return nil
	}
	want := strings.Join(search.Words(text), " ")
	for _, c := range v.snap.Desk.Cities {
		if len(rows) == n {
			break
		}
		begins := func(name string) bool {
			name = " " + strings.Join(search.Words(name), " ")
			return strings.Contains(name, " "+want)
		}
		if begins(c.City.Title) || begins(c.City.Question) || begins(c.City.Slug) {
			rows = append(rows, wire.Found{Kind: foundNames()[foundCity], ID: c.City.Slug, Title: textOrNull(c.City.Question), Subtitle: textOrNull(c.City.Country)})
		}
	}
	return rows
}
