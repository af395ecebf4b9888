package export

import "pmx/data"

// fillTexts are the wallets and tokens that fills are joined to, and the expressions of what they show of them.
type fillTexts struct{ wallets, tokens, address, condition, outcome, label string }

// storedTexts has wallets and tokens as they are stored: texts are made for each fill.
func storedTexts() fillTexts {
	return fillTexts{wallets: "(" + statements.Get("FillWallets") + ")", tokens: "(" + statements.Get("FillTokens") + ")",
		address: statements.Get("FillAddress"), condition: statements.Get("FillCondition"), outcome: statements.Get("FillOutcome"), label: "t.named.label"}
}

// madeTexts has wallets and tokens from tables or queries whose texts are made already: see rows.
func madeTexts(wallets, tokens string) fillTexts {
	return fillTexts{wallets: wallets, tokens: tokens, address: "w.address", condition: "t.condition", outcome: "t.outcome", label: "t.label"}
}

// textsOnce is madeTexts within one statement.
func textsOnce() fillTexts {
	wallets, tokens := storedTexts().rows()
	return madeTexts("("+wallets+")", "("+tokens+")")
}

// rows returns queries of wallets and tokens with all texts.
func (t fillTexts) rows() (wallets, tokens string) {
	pairs := []string{"@wallets", t.wallets, "@tokens", t.tokens, "@address", t.address, "@condition", t.condition, "@outcome", t.outcome}
	return statements.Get("FillWalletTexts", pairs...), statements.Get("FillTokenTexts", pairs...)
}

// query is factsQuery of fills.
func (t fillTexts) query(format data.Format) string {
	f := factForm(format)
	r := replacements{"wallets": t.wallets, "tokens": t.tokens, "address": t.address, "condition": t.condition, "outcome": t.outcome,
		"label": f.line(t.label), "name": f.line("w.name")}
	fillColumns(f, r)
	return statements.Get("fills", r.pairs()...)
}
