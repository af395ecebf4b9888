package feeds_test

import (
	"errors"
	"strings"
	"testing"

	"pmx/data/feeds"
)

// A named feed reads files of its own and of unknown shapes. A file of another feed, a known
// foreign file, and rows of wallets instead of markets are refused.
func TestANamedFeedFitsItsFile(t *testing.T) {
	const (
		trade  = `[{"proxyWallet":"0x1","side":"BUY","asset":"1","conditionId":"0x2","size":1,"price":0.5,"timestamp":1,"title":"q","slug":"s","outcome":"Yes","outcomeIndex":0}]`
		cut    = `[{"proxyWallet":"0x1","asset":"1","conditionId":"0x2","question":"q","outcomes":"[]"}]`
		market = `[{"conditionId":"0x2","question":"q","outcomes":"[\"Yes\",\"No\"]","clobTokenIds":"[]"}]`
		fills  = "ts,wallet,token,side,shares,usd\n"
		odd    = `[{"conditionId":"0x2","about":"q"}]`
	)
	for _, c := range []struct{ as, text, refusal string }{
		{"polymarket-trades", trade, ""},
		{"gamma-markets", trade, "polymarket-trades"},
		{"market-list", trade, "polymarket-trades"},
		{"clob-markets", trade, "polymarket-trades"},
		{"resolution-map", trade, "polymarket-trades"},
		{"pmx-fills", trade, "polymarket-trades"},
		{"gamma-markets", cut, "proxyWallet"},
		{"gamma-markets", market, ""},
		{"market-list", market, "gamma-markets"},
		{"polymarket-trades", market, "gamma-markets"},
		{"pmx-fills", fills, ""},
		{"pmx-markets", fills, "pmx-fills"},
		{"gamma-markets", fills, "pmx-fills"},
		{"gamma-markets", odd, ""},
		{"polymarket-trades", `[{"proxyWallet":"0x1","avgPrice":1,"cashPnl":1}]`, "a list of positions"},
	} {
		h, err := feeds.HeadOf(strings.NewReader(c.text))
		if err != nil {
			t.Fatal(err)
		}
		f, err := feeds.ByName(c.as)
		if err != nil {
			t.Fatal(err)
		}
		err = feeds.Fits(f, h)
		if c.refusal == "" && err != nil || c.refusal != "" && (err == nil || !strings.Contains(err.Error(), c.refusal)) {
			t.Errorf("%s of %.40s: %v, want %q", c.as, c.text, err, c.refusal)
		}
		var misfit *feeds.MisfitError
		var stranger *feeds.ForeignError
		if err != nil && !errors.As(err, &misfit) && !errors.As(err, &stranger) {
			t.Errorf("%s of %.40s: %T", c.as, c.text, err)
		}
	}
	// No feed accepts a file that detection assigns to another.
	for _, c := range []string{trade, market, fills} {
		h, _ := feeds.HeadOf(strings.NewReader(c))
		own, err := feeds.Detect(h)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range feeds.All() {
			if err := feeds.Fits(f, h); (err == nil) != (f.Name == own.Name) {
				t.Errorf("%s as %s: %v", own.Name, f.Name, err)
			}
		}
	}
}
