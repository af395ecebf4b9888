package rollups

import "pmx/data"

// isAt reports whether Live has everything of the rollups with an epoch. Only the writing connection may ask.
func (l *Live) isAt(epoch int64) bool {
	return l != nil && l.walletBuilder != nil && !l.incomplete && l.progress.epoch == epoch
}

// tradedToken is the row of TradedTokens of a token.
func (l *Live) tradedToken(token data.TokenID) *tradedToken {
	t := &tradedToken{Token: token, Market: -1, Outcome: -1}
	if int(token) >= len(l.tokens) || l.tokens[token].market < 0 { // it is new, or its market is not known
		return t
	}
	t.Market, t.Outcome = l.tokens[token].market, l.tokens[token].outcome
	if m := l.catalog.Market(t.Market); m != nil {
		t.Category, t.Resolved = m.Category, m.Resolved()
	}
	for _, p := range l.sections {
		if desk, ok := p.(*deskSection); ok {
			t.Desk = desk.markets[t.Market] != nil
		}
	}
	return t
}
