package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pmx/data"
)

// MaxRows is the maximum number of rows of a dataset's file.
const MaxRows = 2_000_000

// SchemaVersion is the version of the datasets' columns. It changes with the columns and their
// meanings, also with those of the export of a wallet.
const SchemaVersion = "2"

// dataset is a table for researchers. Its rows are those of the statement with the same name, in a
// total order.
type dataset struct {
	name    string
	file    string // its name in the file; "" for name
	order   []key
	ranked  string // the column that is ranked, the first of order; "" for none
	columns []column
}

// key is a column that rows are ordered by.
type key struct {
	column     string
	descending bool
}

// Datasets returns the names of the research datasets.
func Datasets() []string {
	var names []string
	for _, d := range datasets() {
		names = append(names, d.name)
	}
	return names
}

// Columns returns the columns of every research dataset, in order.
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
		return dataset{}, fmt.Errorf("%w dataset %q: use one of %s", ErrUnknown, name, strings.Join(Datasets(), ", "))
	}
	return all[i], nil
}

func datasets() []dataset {
	return []dataset{markets(), traderLeaderboard(), walletPnL(), oracleAccuracy()}
}

// markets is the dataset of all markets, ordered by volume.
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

// traderLeaderboard ranks all wallets, except for the venue's own, by lifetime profit.
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

// walletPnL is the dataset of all wallets' totals, except for the venue's own, ordered by volume.
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

// oracleAccuracy scores all wallets with forecasts of resolved markets, except for the venue's own;
// the best come first.
func oracleAccuracy() dataset {
	return dataset{
		name:  "oracle_accuracy",
		order: []key{{"brier", false}, {"resolved_forecasts", true}, {"address", false}},
		columns: []column{{"address", hexed}, {"username", text}, {"resolved_forecasts", number}, {"brier", amount}, {"brier_baseline", amount},
			{"brier_skill", amount}, {"edge", amount}, {"accuracy_pct", amount}, {"volume", amount}},
	}
}

// title returns the dataset's name in its file.
func (d dataset) title() string { return cmp.Or(d.file, d.name) }

// orderBy returns the ORDER BY of the dataset.
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

// frozen returns the statement for the first limit rows in order, numbered from 1 in column n.
func (d dataset) frozen(definition string, limit int64) string {
	ordered := fmt.Sprintf("%s%s LIMIT %d", definition, d.orderBy(), limit)
	if d.ranked == "" {
		return statements.Get("NumberedRows", "@rows", ordered)
	}
	return statements.Get("RankedRows", "@rows", ordered, "@by", d.ranked)
}

// shown returns the select list for a format.
func (d dataset) shown(format data.Format) string {
	list := make([]string, len(d.columns))
	for i, c := range d.columns {
		list[i] = c.shown(format)
	}
	return strings.Join(list, ", ")
}
