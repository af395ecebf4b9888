package datasets

import (
	"fmt"
	"slices"
	"strings"
)

// Trader lists the tables of a wallet's export. Columns have the names of the fields in the API's
// responses about the wallet.
func Trader() []Fact {
	return []Fact{traderStats(), traderDaily(), traderMarkets(), traderPositions(), traderTrades()}
}

// TraderReadme describes the columns of every file of a wallet's export, in Markdown. file returns
// the name of the file of a table.
func TraderReadme(file func(id string) string) string {
	var b strings.Builder
	b.WriteString("# Everything about one wallet\n\nmanifest.json has the time of the export, and the number of rows and the checksum of each file. An empty CSV cell is null: the value is unknown.\n")
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
	ofTrades        = "number of the wallet's own fills, of any role"
	ofVolume        = "USD traded: buys plus sells"
	ofBuys          = "USD paid for buys, before fees"
	ofSells         = "USD received for sells, before fees"
	ofFees          = "fees paid in USD"
	ofCash          = "sells minus buys minus fees_usd"
	ofPnL           = "net_cash + redemption_value"
	ofNegative      = "number of outcomes of resolved markets of which the wallet sold more than it bought, according to its fills"
	ofResolvedAt    = "when the market was resolved; null if it is not resolved or the time is unknown"
	ofResolvedFrom  = "where resolved_at comes from: chain, oracle, closed_time or end_date"
	ofFirst, ofLast = "time of the wallet's first fill", "time of the wallet's last fill"
)

func traded() []Column {
	return []Column{{"trades", Integer, Count, ofTrades}, {"volume", Decimal, USD, ofVolume}, {"buy_volume_usd", Decimal, USD, ofBuys},
		{"sell_volume_usd", Decimal, USD, ofSells}}
}

func ofMarket() []Column {
	return []Column{{"condition_id", Text, "", conditionMeaning + "; null if not yet known"}, {"question", Text, "", "question of the market, from the newest record"},
		{"slug", Text, "", "readable id, as in the URL of the venue's web page"}, {"event_id", Text, "", "id of the event that the market belongs to"},
		{"event_slug", Text, "", "readable id of the event"}}
}

func traderStats() Fact {
	return Fact{"trader_stats", slices.Concat([]Column{{"address", Text, "", addressMeaning}, {"username", Text, "", nameMeaning}}, traded(), []Column{
		{"maker_trades", Integer, Count, "number of fills as maker; fills of unknown role count neither here nor in taker_trades"}, {"taker_trades", Integer, Count, "number of fills as taker"},
		{"active_days", Integer, Count, "number of distinct UTC days with a fill"}, {"unique_markets", Integer, Count, "number of distinct markets traded"},
		{"first_trade_at", Timestamp, UTC, ofFirst}, {"last_trade_at", Timestamp, UTC, ofLast}, {"fees_usd", Decimal, USD, ofFees},
		{"realized_pnl", Decimal, USD, "always equals real_pnl"}, {"real_pnl", Decimal, USD, ofPnL + ", over all time"},
		{"roi", Decimal, Ratio, "real_pnl ÷ buy_volume_usd; null if nothing was bought"},
		{"win_rate", Decimal, Ratio, "winning_markets ÷ resolved_markets; null if there are no resolved markets"},
		{"resolved_markets", Integer, Count, "number of those markets that are resolved"}, {"winning_markets", Integer, Count, "number of resolved markets with a profit above 0"},
		{"net_cash", Decimal, USD, ofCash}, {"redemption_value", Decimal, USD, "net tokens × payout, over resolved markets"},
		{"unresolved_cash", Decimal, USD, "the part of net_cash in markets that are not resolved"}, {"negative_legs", Integer, Count, ofNegative},
		{"unmapped_fills", Integer, Count, "number of fills whose market is not yet known"}, {"pnl_method", Text, "", "name of the definition of real_pnl"},
		{"unrealized_pnl", Decimal, USD, "reserved, always null"}})}
}

func traderDaily() Fact {
	return Fact{"trader_daily", slices.Concat([]Column{{"date", Date, "", "UTC day with a fill, or on which a market that the wallet holds was resolved"},
		{"is_partial", Boolean, "", "whether the day was still in progress: it contains as_of"}}, traded(), []Column{
		{"fees_usd", Decimal, USD, ofFees}, {"net_cash", Decimal, USD, ofCash},
		{"redemption_value", Decimal, USD, "net tokens × payout, over markets resolved on the day"}, {"real_pnl", Decimal, USD, ofPnL},
		{"cumulative_pnl", Decimal, USD, "sum of real_pnl over all days up to and including this one"},
		{"undated_redemption", Decimal, USD, "USD that the wallet's tokens pay in markets that were resolved at an unknown time and that the wallet last traded on the day; not part of real_pnl"},
		{"undated_markets", Integer, Count, "number of such markets"}})}
}

func traderMarkets() Fact {
	return Fact{"trader_markets", slices.Concat(ofMarket(), []Column{{"category", Text, "", "category from a fixed list, derived from the tags, or the category that the source gave; null if there is neither"},
		{"status", Text, "", "resolved if the payouts are known, otherwise closed if a source reports that trading has ended, otherwise open"},
		{"resolved_at", Timestamp, UTC, ofResolvedAt}, {"resolved_at_source", Text, "", ofResolvedFrom}}, traded(), []Column{
		{"fees_usd", Decimal, USD, ofFees}, {"net_cash", Decimal, USD, ofCash}, {"redemption_value", Decimal, USD, "net tokens × payout; 0 if the market is not resolved"},
		{"real_pnl", Decimal, USD, ofPnL}, {"roi", Decimal, Ratio, "real_pnl ÷ buy_volume_usd; null if nothing was bought"},
		{"negative_legs", Integer, Count, ofNegative}, {"first_trade_at", Timestamp, UTC, ofFirst}, {"last_trade_at", Timestamp, UTC, ofLast}})}
}

func traderPositions() Fact {
	return Fact{"trader_positions", slices.Concat(ofMarket(), []Column{
		{"outcome", Text, "", "name of the outcome"}, {"outcome_index", Integer, "", "position of the outcome in the market, counted from 0"},
		{"token_id", Text, "", "id of the outcome token, in decimal"}, {"trades", Integer, Count, ofTrades},
		{"buy_shares", Decimal, Shares, "outcome tokens bought, before fees"}, {"sell_shares", Decimal, Shares, "outcome tokens sold"},
		{"fee_shares", Decimal, Shares, "outcome tokens paid as fees on buys"},
		{"net_shares", Decimal, Shares, "buy_shares − sell_shares − fee_shares; it may be negative"},
		{"buy_volume_usd", Decimal, USD, ofBuys}, {"sell_volume_usd", Decimal, USD, ofSells},
		{"avg_buy_price", Decimal, USD, "average USD per token bought: buy_volume_usd ÷ buy_shares; null if nothing was bought"},
		{"avg_sell_price", Decimal, USD, "average USD per token sold: sell_volume_usd ÷ sell_shares; null if nothing was sold"},
		{"payout", Decimal, USD, "payout in USD per token of the outcome; null if the market is not resolved"}})}
}

// TraderTrades lists the columns of the fills in a wallet's export.
func TraderTrades() []Column { return traderTrades().Columns }

func traderTrades() Fact {
	return Fact{"trader_trades", slices.Concat([]Column{{"ts", Timestamp, UTC, "time of the fill"},
		{"transaction_hash", Text, "", "hash of the transaction, 0x and 64 hexadecimal digits; null if unknown"}, {"log_index", Integer, "", "index of the fill's log event in its block; null if unknown"},
		{"ordinal", Integer, "", "number that distinguishes otherwise equal fills, counted from 1"}}, ofMarket(), []Column{
		{"outcome", Text, "", "name of the outcome"}, {"outcome_index", Integer, "", "position of the outcome in the market, counted from 0"},
		{"token_id", Text, "", "id of the outcome token, in decimal"}, {"side", Text, "", "the wallet's side: BUY or SELL"},
		{"role", Text, "", "the wallet's role: maker or taker; null if unknown"}, {"price", Decimal, USD, "USD per token: usd ÷ shares"},
		{"shares", Decimal, Shares, "outcome tokens, before fees"}, {"usd", Decimal, USD, "USD paid or received, before fees"},
		{"fee", Decimal, "", "fee in units of fee_asset"}, {"fee_asset", Text, "", "unit of the fee. For a sell: usd. For a buy: shares, or usd, paid in addition to the price"},
		{"resolved", Boolean, "", "whether the payouts of the market are known"}, {"payout", Decimal, USD, "payout in USD per token of the outcome; null if the market is not resolved"}})}
}
