package rollups

// oracleVertical is forecasting accuracy: wallets' holdings in resolved markets, scored by what
// they paid. rollups/oracle is the definition.
func oracleVertical() vertical {
	return vertical{
		tables: []table{{name: "oracle_bin", delta: "DeltaOracleBin", rebuild: "RebuildOracleBin", by: eachWallet, with: withHolders, keys: []string{"wallet", "bin"},
			// The sums of few forecasts need few bits.
			order: []string{"wallet // 65536", "least(log2(greatest(forecasts, 1)), 6)::TINYINT", "bin", "wallet"},
			sums:  []string{"forecasts", "correct", "probability", "payout", "error", "baseline_error", "usd"}}},
		before:    func(m *merge) error { return m.forecasts("before", "(FROM n_fill LIMIT 0)") },
		after:     func(m *merge) error { return m.forecasts("after", "n_fill") },
		inputs:    pricedTokens,
		temporary: []string{"o_price", "o_token"},
		section:   func() section { return &oracleSection{} },
	}
}

// forecasts scores the legs of touched tokens; token_total lacks the batch still
// when they are valued after it.
func (m *merge) forecasts(when, batch string) error {
	if m.touched == 0 || m.sums != nil {
		return nil
	}
	totals := statements.Get("TotalsOfTouched", "@among", oneOf("token", m.touchedTokens), "@batch", batch)
	return m.exec("ForecastsKept", "@into", "o_"+when, "@forecasts", scored(statements.Get("PricedLegs",
		"@legs", "leg_"+when, "@prices", outcomePrices(totals, oneOf("t.token", m.touchedTokens)))))
}

// pricedTokens makes o_token, from which all wallets' forecasts are scored.
func pricedTokens(b *rebuilder) error {
	if err := b.exec(statements.Get("PricesEmpty")); err != nil {
		return err
	}
	ranges, err := b.chunker.ranges(statements.Get("KeysOf", "@key", eachMarket.key, "@table", eachMarket.table), 4)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		if err := b.into("o_price", outcomePrices("token_total"+b.suffix, r.of("t.market"))); err != nil {
			return err
		}
	}
	return b.exec(statements.Get("PayingTokens"))
}

// allForecasts selects the forecasts of a range of wallets.
func (b *rebuilder) allForecasts(wallets keyRange) string {
	positions := "(" + statements.Get("RowsInRange", "@rows", "FROM position"+b.suffix, "@which", wallets.of("wallet")) + ")"
	legs := []string{statements.Get("PayingLegs", "@positions", positions)}
	if b.shared {
		legs = append(legs, statements.Get("SharedPayingLegs", "@positions", positions))
	}
	return scored(unionAll(legs))
}

// eachWallets calls f with the rows of some wallets at a time. They are grouped to a few rows for each wallet, so the wallets are counted.
func (b *rebuilder) eachWallets(rows string, f func(rows string) error) error {
	ranges, err := b.chunker.ranges(statements.Get("KeysOf", "@key", eachWallet.key, "@table", eachWallet.table), eachWallet.weight)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		if err := f("(" + statements.Get("RowsInRange", "@rows", "FROM "+rows, "@which", r.of("wallet")) + ")"); err != nil {
			return err
		}
	}
	return nil
}

// scored selects the forecasts of legs that are priced.
func scored(legs string) string {
	return statements.Get("Forecasts", "@legs", legs, "@probability", price("buy_usd", "buy_shares"))
}

// outcomePrices selects what outcomes traded for, given volumes by token; among is a condition on
// tokens that all of these meet.
func outcomePrices(totals, among string) string {
	return statements.Get("OutcomePrices", "@totals", totals, "@among", among, "@taker", price("taker_usd", "taker_shares"),
		"@maker", price("maker_usd", "maker_shares"))
}
