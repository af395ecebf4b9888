package datasets

const (
	addressMeaning = "wallet address, 0x and 40 hexadecimal digits in lower case"
	nameMeaning    = "newest display name of the wallet; null if it has none"
	cashMethod     = "cash_basis_v3: real_pnl = sells − buys − fees paid in USD + net tokens × payout over resolved markets; " +
		"open positions are left out"
)

// markets describes the table of all markets, ordered by volume.
func markets() Dataset {
	return Dataset{
		ID: "markets", Title: "Markets metadata",
		Description: "All markets with question, event, volume, status, resolution answers and category tags.",
		Order:       "volume descending, then condition_id",
		Method:      "volume is the sum over takers' fills, so every match counts once; if a market has only fills of makers, it is the sum over these",
		Columns: []Column{
			{"condition_id", Text, "", "condition id of the market, 0x and 64 hexadecimal digits in lower case"},
			{"question", Text, "", "question of the market, from the newest record"},
			{"slug", Text, "", "readable id, as in the URL of the venue's web page"},
			{"event_id", Text, "", "id of the event that the market belongs to"},
			{"event_slug", Text, "", "readable id of the event"},
			{"event_title", Text, "", "title of the event"},
			{"category", Text, "", "category from a fixed list, derived from the tags, or the category that the source gave; null if there is neither"},
			{"tags", Texts, "", "slugs of the venue's tags"},
			{"outcomes", Texts, "", "names of the outcomes, in the order of the payouts"},
			{"status", Text, "", "resolved if the payouts are known, otherwise closed if a source reports that trading has ended, otherwise open"},
			{"volume", Decimal, USD, "USD traded since the first fill; each match counts once"},
			{"volume_shares", Decimal, Shares, "outcome tokens traded in the same fills"},
			{"volume_basis", Text, "", "whose fills are counted in volume: taker_usd, or maker_usd if there are only fills of makers; null if there are no fills"},
			{"trades", Integer, Count, "number of fills counted in volume"},
			{"traders", Integer, Count, "number of distinct wallets"},
			{"payouts", Decimals, USD, "payout per token of each outcome; null if the market is not resolved"},
			{"winning_outcome", Text, "", "name of the outcome that pays 1; null if none does"},
			{"created_at", Timestamp, UTC, "when the market was created; null if unknown"},
			{"end_date", Timestamp, UTC, "when the market is scheduled to end; null if unknown"},
			{"resolved_at", Timestamp, UTC, "when the market was resolved; null if it is not resolved or the time is unknown"},
			{"resolved_at_source", Text, "", "where resolved_at comes from: chain, oracle, closed_time or end_date"},
		},
	}
}

// traderLeaderboard describes the ranking of all wallets, except for the venue's own, by lifetime
// profit.
func traderLeaderboard() Dataset {
	return Dataset{
		ID: "trader_leaderboard", Title: "Trader leaderboard (all-time)",
		Description: "Trades, volume, net cash flow, realized PnL and market count of every wallet, ranked by real_pnl.",
		Order:       "real_pnl descending, then volume descending, then address",
		Method:      cashMethod,
		Columns: []Column{
			{"rank", Integer, Count, "competition rank by real_pnl: equal values share a rank (1, 1, 3)"},
			{"address", Text, "", addressMeaning},
			{"username", Text, "", nameMeaning},
			{"trades", Integer, Count, "number of the wallet's own fills, of any role"},
			{"volume", Decimal, USD, "USD traded: buys plus sells"},
			{"buy_volume_usd", Decimal, USD, "USD paid for buys, before fees"},
			{"sell_volume_usd", Decimal, USD, "USD received for sells, before fees"},
			{"net_cash", Decimal, USD, "sells minus buys minus fees paid in USD"},
			{"redemption_value", Decimal, USD, "net tokens × payout, over resolved markets"},
			{"real_pnl", Decimal, USD, "net_cash + redemption_value"},
			{"roi", Decimal, Ratio, "real_pnl ÷ buy_volume_usd; null if nothing was bought"},
			{"win_rate", Decimal, Ratio, "winning_markets ÷ resolved_markets; null if there are no resolved markets"},
			{"unique_markets", Integer, Count, "number of distinct markets traded"},
			{"resolved_markets", Integer, Count, "number of those markets that are resolved"},
			{"winning_markets", Integer, Count, "number of resolved markets with a profit above 0"},
			{"first_trade_at", Timestamp, UTC, "time of the wallet's first fill"},
			{"last_trade_at", Timestamp, UTC, "time of the wallet's last fill"},
		},
	}
}

// walletPnL describes the totals of all wallets, except for the venue's own, ordered by volume.
func walletPnL() Dataset {
	return Dataset{
		ID: "wallet_pnl", Title: "Wallet PnL aggregates",
		Description: "Per-wallet volumes, cash flows, profit, unique markets, first and last trade.",
		Order:       "volume descending, then address",
		Method:      cashMethod,
		Columns: []Column{
			{"address", Text, "", addressMeaning},
			{"username", Text, "", nameMeaning},
			{"trades", Integer, Count, "number of the wallet's own fills, of any role"},
			{"maker_trades", Integer, Count, "number of fills as maker; fills of unknown role count neither here nor in taker_trades"},
			{"taker_trades", Integer, Count, "number of fills as taker"},
			{"volume", Decimal, USD, "USD traded: buys plus sells"},
			{"buy_volume_usd", Decimal, USD, "USD paid for buys, before fees"},
			{"sell_volume_usd", Decimal, USD, "USD received for sells, before fees"},
			{"fees_usd", Decimal, USD, "fees paid in USD"},
			{"net_cash", Decimal, USD, "sells minus buys minus fees_usd"},
			{"redemption_value", Decimal, USD, "net tokens × payout, over resolved markets"},
			{"real_pnl", Decimal, USD, "net_cash + redemption_value"},
			{"unresolved_cash", Decimal, USD, "the part of net_cash in markets that are not resolved"},
			{"unique_markets", Integer, Count, "number of distinct markets traded"},
			{"resolved_markets", Integer, Count, "number of those markets that are resolved"},
			{"winning_markets", Integer, Count, "number of resolved markets with a profit above 0"},
			{"active_days", Integer, Count, "number of distinct UTC days with a fill"},
			{"unmapped_fills", Integer, Count, "number of fills whose market is not yet known"},
			{"first_trade_at", Timestamp, UTC, "time of the wallet's first fill"},
			{"last_trade_at", Timestamp, UTC, "time of the wallet's last fill"},
		},
	}
}

// oracleAccuracy describes the accuracy of every wallet with a resolved forecast.
func oracleAccuracy() Dataset {
	return Dataset{
		ID: "oracle_accuracy", Title: "Oracle accuracy (all-time)",
		Description: "Per trader: resolved forecasts, Brier score, Brier score of the market's average prices, accuracy percentage and volume.",
		Order:       "brier ascending, then resolved_forecasts descending, then address",
		Method: "a forecast is an outcome of a resolved market held at resolution; its probability p is the volume-weighted average buy price; " +
			"brier = mean (p − payout)²",
		Columns: []Column{
			{"address", Text, "", addressMeaning},
			{"username", Text, "", nameMeaning},
			{"resolved_forecasts", Integer, Count, "number of outcomes of resolved markets held at resolution"},
			{"brier", Decimal, Ratio, "mean of (p − payout)²; 0 is best"},
			{"brier_baseline", Decimal, Ratio, "the same with the market's average price instead of p"},
			{"brier_skill", Decimal, Ratio, "1 − brier ÷ brier_baseline; null if the baseline is 0"},
			{"edge", Decimal, Ratio, "mean of payout − p"},
			{"accuracy_pct", Decimal, Percent, "percentage of forecasts whose outcome paid more than 0.5"},
			{"volume", Decimal, USD, "USD traded since the first fill: buys plus sells"},
		},
	}
}
