package openapi

// glossary explains fields that mean the same wherever they stand and have no
// comment of their own; "" for a name it does not know.
func glossary(name string) string {
	return map[string]string{
		"address":          "wallet address, `0x` and 40 hexadecimal digits in lower case",
		"username":         "display name of the wallet; null where it has none",
		"condition_id":     "condition id of the market, `0x` and 64 hexadecimal digits in lower case",
		"question":         "question of the market; null where it is not known",
		"slug":             "readable id out of the venue's web address; null where it is not known",
		"event_id":         "id of the event that the market belongs to; null where it is not known",
		"event_slug":       "readable id of the event; null where it is not known",
		"event_title":      "title of the event; null where it is not known",
		"category":         "category that the market is filed under; null where it is not known",
		"trades":           "number of fills",
		"traders":          "number of distinct wallets",
		"volume":           "USD traded",
		"volume_shares":    "outcome tokens traded",
		"buy_volume_usd":   "USD paid on buys",
		"sell_volume_usd":  "USD received on sells",
		"maker_trades":     "fills in which the wallet was the maker",
		"taker_trades":     "fills in which the wallet was the taker",
		"unique_markets":   "number of distinct markets traded",
		"first_trade_at":   "time of the first fill; null where there is none",
		"last_trade_at":    "time of the last fill; null where there is none",
		"fees_usd":         "fees taken in USD",
		"net_cash":         "USD received on sells minus USD paid on buys",
		"redemption_value": "USD that the tokens held at resolution are worth, over resolved markets",
		"resolved_markets": "number of traded markets that are resolved",
		"winning_markets":  "of the resolved markets, those with a profit",
		"volume_all_time":  "USD traded since the first fill",
		"end_date":         "when the market is due to end; null where it is not known",
		"pnl_method":       "name of the definition behind every `real_pnl`",
		"uptime_seconds":   "seconds since the program started",
	}[name]
}
