package datasets

const (
	addressMeaning = "wallet address, 0x and 40 hexadecimal digits in lower case"
	nameMeaning    = "the newest display name seen; null where there is none"
	cashMethod     = "cash_basis_v3: real_pnl = sells − buys − fees in dollars + net tokens × payout over resolved markets; " +
		"open positions are left out"
)

// markets describes the table of all markets, ordered by volume.
func markets() Dataset {
	return Dataset{
		ID: "markets", Title: "Markets metadata",
		Description: "All markets with question, event, volume, status, resolution answers and category tags.",
		Order:       "volume descending, then condition_id",
		Method:      "volume adds up the fills of takers, so that every match counts once; where a market has fills of makers only, theirs",
		Columns: []Column{
			{"condition_id", Text, "", "condition id, 0x and 64 hexadecimal digits in lower case"},
			{"question", Text, "", "as the newest source gave it"},
			{"slug", Text, "", "readable id out of the venue's web address"},
			{"event_id", Text, "", "id of the event it belongs to"},
			{"event_slug", Text, "", "readable id of the event"},
			{"event_title", Text, "", "title of the event"},
			{"category", Text, "", "one of a fixed list, derived from tags"},
			{"tags", Texts, "", "slugs of the venue's tags"},
			{"outcomes", Texts, "", "labels, in the order of the payouts"},
			{"status", Text, "", "resolved where the payouts are known, else closed where a source said that trading ended, else open"},
			{"volume", Decimal, USD, "lifetime, each match once"},
			{"volume_shares", Decimal, Shares, "outcome tokens of the same fills"},
			{"volume_basis", Text, "", "taker_usd, or maker_usd where there are fills of makers only; null without fills"},
			{"trades", Integer, Count, "the fills behind volume"},
			{"traders", Integer, Count, "distinct wallets"},
			{"payouts", Decimals, USD, "what a token of each outcome pays; null where the market is not resolved"},
			{"winning_outcome", Text, "", "label of the outcome that pays 1; null where none does"},
			{"created_at", Timestamp, UTC, "when the market was made; null where it is not known"},
			{"end_date", Timestamp, UTC, "when it is due to end; null where it is not known"},
			{"resolved_at", Timestamp, UTC, "when it was resolved; null where it is not, or the time is not known"},
			{"resolved_at_source", Text, "", "what resolved_at comes from: chain, oracle, closed_time or end_date"},
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
			{"rank", Integer, Count, "competition rank on real_pnl: equal values share it (1, 1, 3)"},
			{"address", Text, "", addressMeaning},
			{"username", Text, "", nameMeaning},
			{"trades", Integer, Count, "own fills, of either role"},
			{"volume", Decimal, USD, "buys plus sells"},
			{"buy_volume_usd", Decimal, USD, "paid on buys, before fees"},
			{"sell_volume_usd", Decimal, USD, "received on sells, before fees"},
			{"net_cash", Decimal, USD, "sells less buys less fees taken in dollars"},
			{"redemption_value", Decimal, USD, "net tokens times payout, over resolved markets"},
			{"real_pnl", Decimal, USD, "net_cash + redemption_value"},
			{"roi", Decimal, Ratio, "real_pnl over buy_volume_usd; null where nothing was bought"},
			{"win_rate", Decimal, Ratio, "winning_markets over resolved_markets; null where none is resolved"},
			{"unique_markets", Integer, Count, "distinct markets traded"},
			{"resolved_markets", Integer, Count, "of these, the resolved ones"},
			{"winning_markets", Integer, Count, "of these, the ones with a profit above 0"},
			{"first_trade_at", Timestamp, UTC, "first own fill"},
			{"last_trade_at", Timestamp, UTC, "last own fill"},
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
			{"trades", Integer, Count, "own fills, of either role"},
			{"maker_trades", Integer, Count, "fills as maker; fills of unknown role are in neither"},
			{"taker_trades", Integer, Count, "fills as taker"},
			{"volume", Decimal, USD, "buys plus sells"},
			{"buy_volume_usd", Decimal, USD, "paid on buys, before fees"},
			{"sell_volume_usd", Decimal, USD, "received on sells, before fees"},
			{"fees_usd", Decimal, USD, "fees taken in dollars"},
			{"net_cash", Decimal, USD, "sells less buys less fees_usd"},
			{"redemption_value", Decimal, USD, "net tokens times payout, over resolved markets"},
			{"real_pnl", Decimal, USD, "net_cash + redemption_value"},
			{"unresolved_cash", Decimal, USD, "the part of net_cash in markets that are not resolved"},
			{"unique_markets", Integer, Count, "distinct markets traded"},
			{"resolved_markets", Integer, Count, "of these, the resolved ones"},
			{"winning_markets", Integer, Count, "of these, the ones with a profit above 0"},
			{"active_days", Integer, Count, "distinct UTC days with a fill"},
			{"unmapped_fills", Integer, Count, "fills whose market is not known yet"},
			{"first_trade_at", Timestamp, UTC, "first own fill"},
			{"last_trade_at", Timestamp, UTC, "last own fill"},
		},
	}
}

// oracleAccuracy describes the accuracy of every wallet with a resolved forecast.
func oracleAccuracy() Dataset {
	return Dataset{
		ID: "oracle_accuracy", Title: "Oracle accuracy (all-time)",
		Description: "Per trader: resolved forecasts, Brier score beside the market's own, accuracy percentage and volume.",
		Order:       "brier ascending, then resolved_forecasts descending, then address",
		Method: "a forecast is an outcome of a resolved market held at resolution; its probability p is the volume-weighted average buy price; " +
			"brier = mean (p − payout)²",
		Columns: []Column{
			{"address", Text, "", addressMeaning},
			{"username", Text, "", nameMeaning},
			{"resolved_forecasts", Integer, Count, "outcomes of resolved markets held at resolution"},
			{"brier", Decimal, Ratio, "mean squared distance of price paid and payout: 0 is perfect"},
			{"brier_baseline", Decimal, Ratio, "the same for the market's own average price"},
			{"brier_skill", Decimal, Ratio, "1 − brier over brier_baseline; null where the baseline is 0"},
			{"edge", Decimal, Ratio, "mean of payout less price paid"},
			{"accuracy_pct", Decimal, Percent, "share of forecasts that paid more than 0.5"},
			{"volume", Decimal, USD, "lifetime, buys plus sells"},
		},
	}
}
