package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pmx/data"
)

// MaxRows is how many rows a dataset's file has at most.
const MaxRows = 2_000_000

// SchemaVersion is the version of the datasets' columns: another number, other
// columns or another meaning of one.
const SchemaVersion = "1"

// dataset is one table that researchers take away. Its rows are those of the
// statement of the same name, in an order that is total.
type dataset struct {
	name    string
	file    string // what its file calls it; "" for name
	order   []key
	ranked  string // the column that rank counts, first of order; "" for none
	columns []column
}

// key is a column that rows are ordered by.
type key struct {
	column     string
	descending bool
}

// Datasets are the names of the research datasets.
func Datasets() []string {
	var names []string
	for _, d := range datasets() {
		names = append(names, d.name)
	}
	return names
}

// Columns lists the columns of every research dataset, in order.
func Columns() map[string][]string {
	all := map[string][]string{}
	for _, d := range datasets() {
		for _, c := range d.columns {
			all[d.name] = append(all[d.name], c.name)
		}
	}
	return all
}

func datasetNamed(name string) (dataset, error) {
	all := datasets()
	i := slices.IndexFunc(all, func(d dataset) bool { return d.name == name })
	if i < 0 {
		return dataset{}, fmt.Errorf("%w dataset %q: there are %s", ErrUnknown, name, strings.Join(Datasets(), ", "))
	}
	return all[i], nil
}

func datasets() []dataset {
	return []dataset{markets(), traderLeaderboard(), walletPnL(), oracleAccuracy()}
}

// markets are all markets, those most traded first.
func markets() dataset {
	return dataset{
		name:  "markets",
		order: []key{{"volume", true}, {"condition_id", false}},
		columns: []column{{"condition_id", hexed}, {"question", text}, {"slug", text}, {"event_id", text}, {"event_slug", text},
			{"event_title", text}, {"category", text}, {"tags", texts}, {"outcomes", texts}, {"status", text},
			{"volume", amount}, {"volume_shares", amount}, {"volume_basis", text}, {"trades", number}, {"traders", number},
			{"payouts", shares}, {"winning_outcome", text}, {"created_at", moment}, {"end_date", moment}, {"resolved_at", moment}, {"resolved_at_source", text}},
	}
}

// traderLeaderboard ranks all wallets but the venue's own by lifetime profit.
func traderLeaderboard() dataset {
	return dataset{
		name:   "trader_leaderboard",
		order:  []key{{"real_pnl", true}, {"volume", true}, {"address", false}},
		ranked: "real_pnl",
		columns: []column{{"rank", number}, {"address", hexed}, {"username", text}, {"trades", number}, {"volume", amount},
			{"buy_volume_usd", amount}, {"sell_volume_usd", amount}, {"net_cash", amount}, {"redemption_value", amount},
			{"real_pnl", amount}, {"roi", amount}, {"win_rate", amount}, {"unique_markets", number}, {"resolved_markets", number},
			{"winning_markets", number}, {"first_trade_at", moment}, {"last_trade_at", moment}},
	}
}

// walletPnL is what every wallet but the venue's own did, those that traded most
// first.
func walletPnL() dataset {
	return dataset{
		name:  "wallet_pnl",
		order: []key{{"volume", true}, {"address", false}},
		columns: []column{{"address", hexed}, {"username", text}, {"trades", number}, {"maker_trades", number}, {"taker_trades", number},
			{"volume", amount}, {"buy_volume_usd", amount}, {"sell_volume_usd", amount}, {"fees_usd", amount},
			{"net_cash", amount}, {"redemption_value", amount}, {"real_pnl", amount}, {"unresolved_cash", amount},
			{"unique_markets", number}, {"resolved_markets", number}, {"winning_markets", number}, {"active_days", number},
			{"unmapped_fills", number}, {"first_trade_at", moment}, {"last_trade_at", moment}},
	}
}

// oracleAccuracy scores every wallet that forecast a resolved market but the
// venue's own, the best first.
func oracleAccuracy() dataset {
	return dataset{
		name:  "oracle_accuracy",
		order: []key{{"brier", false}, {"resolved_forecasts", true}, {"address", false}},
		columns: []column{{"address", hexed}, {"username", text}, {"resolved_forecasts", number}, {"brier", amount}, {"brier_baseline", amount},
			{"brier_skill", amount}, {"edge", amount}, {"accuracy_pct", amount}, {"volume", amount}},
	}
}

// title is what the dataset's file calls it.
func (d dataset) title() string { return cmp.Or(d.file, d.name) }

// orderBy is the ORDER BY of the dataset.
func (d dataset) orderBy() string {
	parts := make([]string, len(d.order))
	for i, k := range d.order {
		parts[i] = k.column
		if k.descending {
			parts[i] += " DESC"
		}
	}
	return " ORDER BY " + strings.Join(parts, ", ")
}

// frozen is the statement that gives the first limit rows in order, numbered
// from 1 in n.
func (d dataset) frozen(definition string, limit int64) string {
	ordered := fmt.Sprintf("%s%s LIMIT %d", definition, d.orderBy(), limit)
	if d.ranked == "" {
		return statements.Get("NumberedRows", "@rows", ordered)
	}
	return statements.Get("RankedRows", "@rows", ordered, "@by", d.ranked)
}

// shown is the select list in the given format.
func (d dataset) shown(format data.Format) string {
	list := make([]string, len(d.columns))
	for i, c := range d.columns {
		list[i] = c.shown(format)
	}
	return strings.Join(list, ", ")
}
