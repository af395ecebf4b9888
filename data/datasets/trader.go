package datasets

import (
	"fmt"
	"slices"
	"strings"
)

// Trader lists the tables of a wallet's export. Columns have the names of the fields in the API's
// responses about the wallet.
func Trader() []Fact {
	return []Fact{traderStats(), traderDaily(), traderMarkets(), traderTrades()}
}

// TraderReadme describes the columns of every file of a wallet's export, in Markdown. file returns
// the name of the file of a table.
func TraderReadme(file func(id string) string) string {
	var b strings.Builder
	b.WriteString("# Everything about one wallet\n\nmanifest.json has the time of the export, and the rows and the checksum of each file. An empty cell of CSV is null: unknown.\n")
	for _, f := range Trader() {
		fmt.Fprintf(&b, "\n## %s\n\n| column | type | meaning |\n|---|---|---|\n", file(f.ID))
		for _, c := range f.Columns {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", c.Name, c.Type, c.meaning())
		}
	}
	return b.String()
}

// meaning returns the meaning of the column, with its unit.
func (c Column) meaning() string {
	if c.Unit == "" {
		return c.Meaning
	}
	return c.Meaning + " (" + string(c.Unit) + ")"
}

const (
	ofTrades        = "own fills, of either role"
	ofVolume        = "buys plus sells"
	ofBuys          = "paid on buys, before fees"
	ofSells         = "received on sells, before fees"
	ofFees          = "fees taken in dollars"
	ofCash          = "sells less buys less fees_usd"
	ofPnL           = "net_cash + redemption_value"
	ofNegative      = "outcomes of resolved markets of which more was sold than was bought in the fills seen"
	ofResolvedAt    = "when the market was resolved; null where it is not, or the time is not known"
	ofResolvedFrom  = "what resolved_at comes from: chain, oracle, closed_time or end_date"
	ofFirst, ofLast = "first own fill", "last own fill"
)

func traded() []Column {
	return []Column{{"trades", Integer, Count, ofTrades}, {"volume", Decimal, USD, ofVolume}, {"buy_volume_usd", Decimal, USD, ofBuys},
		{"sell_volume_usd", Decimal, USD, ofSells}}
}

func ofMarket() []Column {
	return []Column{{"condition_id", Text, "", conditionMeaning + "; null where it is not known yet"}, {"question", Text, "", "as the newest source gave it"},
		{"slug", Text, "", "readable id out of the venue's web address"}, {"event_id", Text, "", "id of the event it belongs to"},
		{"event_slug", Text, "", "readable id of the event"}}
}

func traderStats() Fact {
	return Fact{"trader_stats", slices.Concat([]Column{{"address", Text, "", addressMeaning}, {"username", Text, "", nameMeaning}}, traded(), []Column{
		{"maker_trades", Integer, Count, "fills as maker; fills of unknown role are in neither"}, {"taker_trades", Integer, Count, "fills as taker"},
		{"active_days", Integer, Count, "distinct UTC days with a fill"}, {"unique_markets", Integer, Count, "distinct markets traded"},
		{"first_trade_at", Timestamp, UTC, ofFirst}, {"last_trade_at", Timestamp, UTC, ofLast}, {"fees_usd", Decimal, USD, ofFees},
		{"realized_pnl", Decimal, USD, "the same as real_pnl"}, {"real_pnl", Decimal, USD, ofPnL + ", over all time"},
		{"roi", Decimal, Ratio, "real_pnl over buy_volume_usd; null where nothing was bought"},
		{"win_rate", Decimal, Ratio, "winning_markets over resolved_markets; null where none is resolved"},
		{"resolved_markets", Integer, Count, "of the markets traded, the resolved ones"}, {"winning_markets", Integer, Count, "of these, the ones with a profit above 0"},
		{"net_cash", Decimal, USD, ofCash}, {"redemption_value", Decimal, USD, "net tokens times payout, over resolved markets"},
		{"unresolved_cash", Decimal, USD, "the part of net_cash in markets that are not resolved"}, {"negative_legs", Integer, Count, ofNegative},
		{"unmapped_fills", Integer, Count, "fills whose market is not known yet"}, {"pnl_method", Text, "", "the definition behind every profit"},
		{"unrealized_pnl", Decimal, USD, "reserved: always null"}})}
}

func traderDaily() Fact {
	return Fact{"trader_daily", slices.Concat([]Column{{"date", Date, "", "UTC day with a fill, or on which a market of the wallet was resolved"}}, traded(), []Column{
		{"fees_usd", Decimal, USD, ofFees}, {"net_cash", Decimal, USD, ofCash},
		{"redemption_value", Decimal, USD, "net tokens times payout, over markets resolved on this day"}, {"real_pnl", Decimal, USD, ofPnL},
		{"cumulative_pnl", Decimal, USD, "real_pnl of this day and of all before it"},
		{"undated_redemption", Decimal, USD, "what tokens pay in markets that were traded last on this day and resolved at an unknown time; not in real_pnl"},
		{"undated_markets", Integer, Count, "how many such markets there are"}})}
}

func traderMarkets() Fact {
	return Fact{"trader_markets", slices.Concat(ofMarket(), []Column{{"category", Text, "", "one of a fixed list, derived from tags"},
		{"status", Text, "", "resolved where the payouts are known, else closed where a source said that trading ended, else open"},
		{"resolved_at", Timestamp, UTC, ofResolvedAt}, {"resolved_at_source", Text, "", ofResolvedFrom}}, traded(), []Column{
		{"fees_usd", Decimal, USD, ofFees}, {"net_cash", Decimal, USD, ofCash}, {"redemption_value", Decimal, USD, "net tokens times payout; 0 where the market is not resolved"},
		{"real_pnl", Decimal, USD, ofPnL}, {"roi", Decimal, Ratio, "real_pnl over buy_volume_usd; null where nothing was bought"},
		{"negative_legs", Integer, Count, ofNegative}, {"first_trade_at", Timestamp, UTC, ofFirst}, {"last_trade_at", Timestamp, UTC, ofLast}})}
}

func traderTrades() Fact {
	return Fact{"trader_trades", slices.Concat([]Column{{"ts", Timestamp, UTC, "when it was filled"},
		{"transaction_hash", Text, "", "0x and 64 hexadecimal digits; null where it is not known"}, {"log_index", Integer, "", "place in the block's log; null where it is not known"},
		{"ordinal", Integer, "", "numbers fills that are equal in everything else, from 1"}}, ofMarket(), []Column{
		{"outcome", Text, "", "label of the outcome"}, {"outcome_index", Integer, "", "place of the outcome in the order of the payouts, from 0"},
		{"token_id", Text, "", "id of the outcome token, decimal"}, {"side", Text, "", "BUY or SELL, the wallet's own"},
		{"role", Text, "", "maker or taker; null where it is not known"}, {"price", Decimal, USD, "usd over shares"},
		{"shares", Decimal, Shares, "tokens, before fees"}, {"usd", Decimal, USD, "paid or received, before fees"},
		{"fee", Decimal, "", "in fee_asset"}, {"fee_asset", Text, "", "what the fee is counted in: usd on a sale; on a buy shares, or usd on top of usd"},
		{"resolved", Boolean, "", "whether the payouts of the market are known"}, {"payout", Decimal, USD, "what a token of the outcome pays; null where the market is not resolved"}})}
}
