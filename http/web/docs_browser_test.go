package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The search of the reference finds fields, paths and words of the definitions, and what it
// leads to is unfolded.
func TestSearchingTheReferenceInARealBrowser(t *testing.T) {
	b, _ := openTab(t)
	b.look(t, 1280, "light")
	b.do(t, chromedp.Navigate(b.base+"/docs"), chromedp.WaitVisible(chromedp.CSS("#seek")))
	if text := give(t, b, chromedp.Text(chromedp.CSS(".prose pre"))); !strings.Contains(text, b.base+"/api/v3/") {
		t.Errorf("the first request does not name this host: %s", text)
	}
	for _, c := range [][2]string{
		{"unresolved_cash", "/docs/trader/getTraderStats"}, {"leaderboard traders", "/docs/leaderboard/getLeaderboardTraders"}, {"rate_limited", "/docs/problems/rate_limited"}, {"brier", "/docs/text/numbers#forecasts"},
	} {
		words, want := c[0], c[1]
		b.do(t, chromedp.SetValue(chromedp.CSS("#seek"), words))
		give(t, b, chromedp.Evaluate[string](`document.getElementById("seek").dispatchEvent(new Event("input")), ""`))
		b.until(t, words+" is found", fmt.Sprintf(`[...document.querySelectorAll("#sought a")].some((a) => a.getAttribute("href") === %q)`, want))
	}
	give(t, b, chromedp.Evaluate[string](`document.querySelector('#sought a[href$="#forecasts"]').click(), ""`))
	b.until(t, "the section is open", `location.hash === "#forecasts" && document.getElementById("forecasts") && document.getElementById("forecasts").closest("details").open`)
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}
