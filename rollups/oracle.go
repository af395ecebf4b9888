package rollups

// oracleVertical is forecasting accuracy: what wallets hold of resolved markets,
// scored by what they paid for it. rollups/oracle is the definition.
func oracleVertical() vertical {
	return vertical{
		tables: []table{{name: "oracle_bin", delta: "DeltaOracleBin", rebuild: "RebuildOracleBin", with: withHolders, keys: []string{"wallet", "bin"},
			sums: []string{"forecasts", "correct", "probability", "payout", "error", "baseline_error", "usd"}}},
		before:    func(m *merge) error { return m.forecasts("before", "(FROM n_fill LIMIT 0)") },
		after:     func(m *merge) error { return m.forecasts("after", "n_fill") },
		inputs:    allForecasts,
		temporary: []string{"o_all", "o_token"},
		section:   func() section { return &oracleSection{} },
	}
}

// forecasts scores the legs of touched tokens; token_total lacks the batch still
// when they are valued after it.
func (m *merge) forecasts(when, batch string) error {
	if m.touched == 0 {
		return nil
	}
	totals := statements.Get("TotalsOfTouched", "@among", oneOf("token", m.touchedTokens), "@batch", batch)
	return m.exec("ForecastsKept", "@into", "o_"+when, "@forecasts", scored("leg_"+when, totals, oneOf("t.token", m.touchedTokens)))
}

// allForecasts scores every wallet's legs.
func allForecasts(b *rebuilder) error {
	if err := b.exec(statements.Get("PayingTokens")); err != nil {
		return err
	}
	legs := statements.Get("PayingLegs", "@positions", "position"+b.suffix)
	return b.exec(statements.Get("BinsOfAll", "@forecasts", scored(legs, "token_total"+b.suffix, "true")))
}

// scored selects the forecasts of legs, given volumes by token; among is a condition on tokens that
// all of these meet.
func scored(legs, totals, among string) string {
	prices := statements.Get("OutcomePrices", "@totals", totals, "@among", among, "@taker", price("taker_usd", "taker_shares"),
		"@maker", price("maker_usd", "maker_shares"))
	return statements.Get("Forecasts", "@legs", legs, "@prices", prices, "@probability", price("l.buy_usd", "l.buy_shares"))
}
