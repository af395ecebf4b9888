package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// The search of the reference finds fields, paths and words of the definitions, and opening a
// result unfolds its section.
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

// In print, a page of the reference has the width of the paper, parameters without input fields,
// and the sections that are folded on the screen.
func TestTheReferenceOnPaperInARealBrowser(t *testing.T) {
	b, _ := openTab(t)
	b.look(t, 794, "light")
	b.do(t, chromedp.Navigate(b.base+"/docs/leaderboard/getLeaderboardTraders"), chromedp.WaitVisible(chromedp.CSS("form.try")))
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	for what, expression := range map[string]string{
		"the text is as wide as the sheet": `document.querySelector(".operation").offsetWidth > 600`,
		"nothing is wider than the sheet":  `document.documentElement.scrollWidth <= 794`,
		"the parameters are there":         `document.querySelector("#about-period").checkVisibility()`,
		"their fields are not":             `!document.querySelector("#in-period").checkVisibility()`,
		"the fields of the answer are":     `document.querySelector(".fields td").checkVisibility()`,
		"the header is not":                `!document.querySelector(".top").checkVisibility() && !document.querySelector(".toc").checkVisibility()`,
	} {
		b.until(t, what, expression)
	}
	b.keep(t, "paper")
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}
