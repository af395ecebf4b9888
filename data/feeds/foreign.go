package feeds

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// ForeignError says that a file is of a known kind that cannot be imported.
type ForeignError struct {
	What string // what the file is: "a Kalshi file"
	Why  string // why it is refused and what to do instead
}

// Error says what the file is and why it is refused.
func (e *ForeignError) Error() string { return fmt.Sprintf("this is %s: %s", e.What, e.Why) }

const otherVenue = "another venue, whose contracts and wallets must not be mixed with this one's; it is not imported"

// strangers are files that look like trades or markets but are neither.
var strangers = []struct {
	is        func(h data.Head) bool
	what, why string
}{
	{isKalshi, "a Kalshi file", otherVenue},
	{begins("<!doctype html", "<html", "<head", "<body"), "a web page (HTML)", "save the data that it shows or links to, not the page"},
	{begins("<?xml", "<!--"), "a file of XML or HTML", "only CSV, NDJSON, JSON and Parquet can be imported"},
	{keyed("fill_id", "condition_id", "side", "notional_value"), "a list of fills without wallets",
		"a fill belongs to a wallet, and this file names none; import the trades that it was made from"},
	{keyed("tx_hash", "asset_id", "fee_rate_bps", "condition_id_norm", "side"), "a list of fills without wallets",
		"a fill belongs to a wallet, and this file names none; import the trades that it was made from"},
	{keyed("total_cost_basis", "avg_entry_price"), "a list of positions", "positions are computed from fills; import the trades"},
	{keyed("total_cost", "avg_price", "fill_count"), "a list of positions", "positions are computed from fills; import the trades"},
	{keyed("proxyWallet", "avgPrice", "cashPnl"), "a list of positions", "positions are computed from fills; import the trades"},
	{keyed("from_address", "to_address", "token_id", "value"), "a list of token transfers",
		"a transfer is not a trade and has no price; import OrderFilled events or trades"},
	{keyed("id", "label", "slug", "requiresTranslation"), "a list of Gamma tags",
		"tags come with their events; import Gamma events or markets"},
	{keyed("total_markets_analyzed", "market_details"), "an analysis of markets",
		"it names no condition ids; import Gamma markets or a resolution map"},
	{keyed("wallet", "real_pnl_all_trades_plus_redemption"), "a table of results by wallet",
		"results are computed from fills; import the trades"},
	{keyed("condition_id", "category_tradability", "llm_model"), "a table of labels",
		"labels of markets are not imported; import Gamma markets"},
	{keyed("market_key", "wallet", "usd_amount", "outcome"), "a table made from AMM-era market files",
		"import the per-market files it was made from"},
	{keyed("fpmm_address", "trader", "outcome_tokens"), "a list of AMM-era trades by pool address",
		"it does not map pools to markets; import the trades per market"},
	{keyed("history[].t", "history[].p"), "a price history", "prices are computed from fills; import the trades"},
	{keyed("type", "usdcSize", "proxyWallet", "conditionId"), "a list of wallet activity",
		"it mixes trades with splits, merges and redemptions; import /trades"},
	{keyed("properties.gridId", "properties.forecastGridData"), "a point of api.weather.gov",
		"it has only the addresses of forecasts; import what these return"},
	{keyed("features[].properties.stationIdentifier", "features[].properties.timeZone"), "a list of stations",
		"stations are listed in stations.csv in the data directory; import their observations"},
	{keyed("generator", "kind", "complete"), "the manifest of an export by pmx", "it has no rows, and files are compared with it only if the folder itself is imported"},
	{keyed("generator", "kind", "address"), "the manifest of a wallet's export by pmx", "it describes the other files of the folder and has no rows"},
	{keyed("generator", "seed", "matches"), "the manifest of a sample venue by pmx", "it has the expected totals of the other files of the folder and no rows"},
	{keyed("error", "reason"), "an error that a service answered with", "repeat the request: the file has no data"},
}

func keyed(names ...string) func(data.Head) bool {
	return func(h data.Head) bool { return shape.Has(h, names...) }
}

// begins recognises text by how it begins, in any case.
func begins(with ...string) func(data.Head) bool {
	return func(h data.Head) bool {
		text := bytes.TrimLeft(h.Bytes, " \t\r\n")
		return slices.ContainsFunc(with, func(start string) bool {
			return len(text) >= len(start) && strings.EqualFold(string(text[:len(start)]), start)
		})
	}
}

// foreign returns a *ForeignError for a head that is known to be something else.
func foreign(h data.Head) error {
	for _, s := range strangers {
		if s.is(h) {
			return &ForeignError{What: s.what, Why: s.why}
		}
	}
	return nil
}

// isKalshi recognises Kalshi's own names: tickers, and prices in cents for both sides of a
// contract.
func isKalshi(h data.Head) bool {
	for _, list := range [][]string{h.Columns, h.Keys} {
		names := make([]string, 0, len(list))
		for _, p := range list {
			names = append(names, p[strings.LastIndexByte(p, '.')+1:])
		}
		ticker := slices.ContainsFunc(names, func(n string) bool {
			return n == "ticker_name" || n == "series_ticker" || n == "event_ticker" || n == "market_ticker"
		})
		sides := slices.Contains(names, "yes_price") || slices.Contains(names, "yes_bid") || slices.Contains(names, "taker_side")
		if ticker && (sides || slices.Contains(names, "mutually_exclusive") || bytes.Contains(h.Bytes, []byte("kalshi"))) ||
			slices.Contains(names, "ticker") && sides {
			return true
		}
	}
	return false
}
