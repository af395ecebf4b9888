package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// with runs a script before those of each page, until undo is called.
func (b *tab) with(t *testing.T, script string) (undo func()) {
	t.Helper()
	added, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := chromedp.Call(b.ctx, page.RemoveScriptToEvaluateOnNewDocument, page.RemoveScriptToEvaluateOnNewDocumentParams(added)); err != nil {
			t.Fatal(err)
		}
	}
}

// Responses that replace the server's, for the states of a page.
const (
	silent = `window.fetch = () => new Promise(() => {})`
	broken = `window.fetch = ((real) => { window.real = real; return () => Promise.resolve(new Response(
		'{"status":503,"code":"not_ready","title":"Not ready","detail":"The tables are being built.","instance":"abcdef0123456789"}', {status: 503})); })(window.fetch)`
	behind = `window.fetch = ((real) => async (at, how) => { const answer = await real(at, how); if (!decodeURIComponent(String(at)).includes("status/public")) return answer;
		return new Response((await answer.text()).replace(/"grade":"[A-F]"/g, '"grade":"F"').replace('"historical":true', '"historical":false')); })(window.fetch)`
	nobody = `(kind) => [...document.querySelectorAll('.state[data-kind="' + kind + '"]')].filter((n) => n.checkVisibility()).length`
)

// Every page says when it is waiting, when the server fails, when the data is old, and when a key
// is missing; after a failure each section can be retried.
func theStates(t *testing.T, b *tab, v venue) {
	b.look(t, 360, "dark")
	shown := func(kind string) string { return `(` + nobody + `)("` + kind + `") > 0` }
	open := func(script, path, kind string) {
		t.Helper()
		undo := b.with(t, script)
		b.do(t, chromedp.Navigate(b.base+path), chromedp.WaitVisible(chromedp.CSS("footer")))
		undo()
		b.until(t, path+" says "+kind, shown(kind))
		b.fits(t, path, look{360, "dark"})
	}
	seen := map[string]bool{}
	for _, at := range explorerPages(v) {
		path, query, _ := strings.Cut(at, "?")
		if seen[path] {
			continue
		}
		seen[path] = true
		if path == "/compare" {
			path += "?" + query
		}
		open(silent, path, "loading")
		open(behind, path, "stale")
		if text := give(t, b, chromedp.Text(chromedp.CSS(`main > .state[data-kind="stale"]`))); !strings.Contains(text, "out of date") {
			t.Errorf("%s says of old data: %s", path, text)
		}
		open(broken, path, "error")
		b.until(t, path+" names the request", `[...document.querySelectorAll('.state[data-kind="error"]')].some((n) => n.textContent.includes("abcdef0123456789"))`)
		give(t, b, chromedp.Evaluate[string](`window.fetch = window.real, document.querySelectorAll('.state[data-kind="error"] button').forEach((n) => n.click()), ""`))
		if r := b.settle(t, path); len(r.Failed) > 0 {
			t.Errorf("%s does not recover: %v", path, r.Failed)
		}
		b.useKey(t, "")
		open(`""`, path, "locked")
		b.useKey(t, v.key)
		b.errors() // the browser reports each 401
	}
	for _, path := range []string{"/trader/0x" + strings.Repeat("0", 39) + "1", "/market/0x" + strings.Repeat("0", 63) + "1", "/event/there-is-none", "/weather/atlantis", "/market/xyz", "/trader/xyz"} {
		b.visit(t, path)
		b.until(t, path+" says that it does not exist", `document.querySelectorAll("main .state").length === 2 && document.querySelector('#explorer > .state[data-kind="empty"]')`)
	}
	b.errors() // and each 404 and 400
	for query, want := range map[string]string{"address=abc": "abc", "address=" + v.wallet + "&address=0x1": "0x1", elevenWallets(): fmt.Sprintf("0x%040x", 11), "address=" + v.wallet: ""} {
		b.visit(t, "/compare?"+query)
		if got := give(t, b, chromedp.Evaluate[string](`[...document.querySelectorAll("#explorer > .state code")].map((n) => n.textContent).join()`)); got != want {
			t.Errorf("of /compare?%s left out are %q, want %q", query, got, want)
		}
		b.fits(t, "/compare?"+query, look{360, "dark"})
	}
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}

// elevenWallets returns a query for one wallet more than can be compared.
func elevenWallets() string {
	var all []string
	for i := range 11 {
		all = append(all, fmt.Sprintf("address=0x%040x", i+1))
	}
	return strings.Join(all, "&")
}

// On a phone, filters are folded until one is set; on a desktop they are always visible, however
// they were left.
func theFilters(t *testing.T, b *tab, _ venue) {
	shown := `document.querySelector(".folds select").checkVisibility({contentVisibilityAuto: true, visibilityProperty: true})`
	for _, path := range []string{"/traders", "/whales"} {
		b.look(t, 360, "light")
		b.visit(t, path)
		if give(t, b, chromedp.Evaluate[bool](shown)) {
			t.Errorf("%s shows its filters on a phone", path)
		}
		b.click(t, ".folds > summary")
		b.until(t, "the filters of "+path+" open", shown)
		b.click(t, ".folds > summary")
		b.until(t, "the filters of "+path+" close", `!`+shown)
		b.look(t, 1280, "light")
		b.until(t, "the filters of "+path+" are visible on a desktop", shown+` && !document.querySelector(".folds > summary").checkVisibility()`)
		b.look(t, 360, "light")
		b.visit(t, path+"?category=sports")
		b.until(t, "a filter that is set is shown on "+path, shown)
	}
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}

// The navigation in the header of a phone: it can be used by the keyboard, is closed by Escape, and
// contains the key; without scripts it is always open.
func theMenu(t *testing.T, b *tab, _ venue) {
	b.look(t, 360, "light")
	b.visit(t, "/markets")
	places := `document.querySelector("#places").checkVisibility()`
	if give(t, b, chromedp.Evaluate[bool](places)) {
		t.Error("the places are open at first")
	}
	give(t, b, chromedp.Evaluate[string](`document.getElementById("menu").focus(), ""`))
	b.do(t, chromedp.KeyEvent("\r"))
	b.until(t, "the places open", places+` && document.querySelector(".keybox summary").checkVisibility()`)
	b.do(t, chromedp.KeyEvent("\t"))
	b.until(t, "the first place has the focus", `document.activeElement.matches("#places a:first-child")`)
	b.keep(t, "menu-360")
	b.do(t, chromedp.KeyEvent("\u001b"))
	b.until(t, "the places close", `!(`+places+`) && document.activeElement.id === "menu"`)
	scripts := func(off bool) {
		t.Helper()
		if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: off}); err != nil {
			t.Fatal(err)
		}
	}
	scripts(true)
	b.do(t, chromedp.Navigate(b.base+"/markets"), chromedp.WaitVisible(chromedp.CSS("#places a")), chromedp.WaitVisible(chromedp.CSS("noscript pre")))
	scripts(false)
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}

// The page of a city goes back to past days, whose markets are settled, and on a phone folds the
// brackets that have been ruled out.
func theCity(t *testing.T, b *tab, v venue) {
	b.look(t, 360, "light")
	settled, folded := false, false
	cities, _ := at(v.get(t, "/api/v3/weather/cities"), "/data").([]any)
	for _, c := range cities[:min(len(cities), 12)] {
		if settled && folded {
			break
		}
		city := fmt.Sprint(at(c, "/city"))
		b.visit(t, "/weather/"+city)
		dead := `[...document.querySelectorAll("tr.folded")].filter((r) => !r.checkVisibility()).length`
		if hidden := give(t, b, chromedp.Evaluate[int64](dead)); hidden > 0 && !folded {
			folded = true
			b.click(t, ".unfold")
			b.until(t, "the brackets unfold", dead+` === 0`)
		}
		b.click(t, `.filters .choice button:first-child`)
		b.settle(t, city)
		settled = settled || give(t, b, chromedp.Evaluate[bool](`document.body.textContent.includes("Settled: ") && location.search.includes("date=")`))
	}
	if !settled || !folded {
		t.Errorf("of the first cities one shows a settled day: %v, one folds brackets: %v", settled, folded)
	}
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}

// If the market's implied temperature is not available, the forecasts of a city are drawn without
// it.
func theCityWithoutItsMarket(t *testing.T, b *tab, v venue) {
	b.look(t, 1280, "light")
	undo := b.with(t, `window.fetch = ((real) => (at, how) => (String(at).includes("implied")
		? Promise.resolve(new Response('{"status":504,"code":"timeout","title":"Too slow","detail":"Ask later."}', {status: 504})) : real(at, how)))(window.fetch)`)
	r := b.visit(t, "/weather/"+v.city)
	undo()
	moved := `[...document.querySelectorAll(".panel")].find((n) => n.querySelector("h2").textContent === "How the forecast moved")`
	if text := give(t, b, chromedp.Evaluate[string](moved+`.textContent`)); len(r.Failed) > 0 || !strings.Contains(text, "The market's line and its brackets are missing") || strings.Contains(text, "Bands are") {
		t.Errorf("without the market %v fails, and the forecasts say %q", r.Failed, text)
	}
	if !give(t, b, chromedp.Evaluate[bool](moved+`.querySelector("pmx-plot") !== null`)) {
		t.Error("the forecasts are not drawn without the market")
	}
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}

// The leaderboard of traders is not cut where its numbers are large.
func largeNumbers(t *testing.T, b *tab, _ venue) {
	b.look(t, 1280, "light")
	b.visit(t, "/traders")
	rows := give(t, b, chromedp.Evaluate[int64](`(() => {
		const rows = [...document.querySelectorAll("table.rows tbody tr")];
		const put = (cell, ...texts) => [...cell.querySelectorAll(".num")].forEach((n, i) => { n.textContent = texts[i]; });
		for (const { cells } of rows) {
			put(cells[1], "1,234", "12,345");
			put(cells[3], "+1,232,117", "+1,232,185", "−1,018,495");
			put(cells[5], "+1,117,328"); put(cells[6], "118,561,234"); put(cells[7], "11,894"); put(cells[8], "+3,376.2 ×"); put(cells[9], "57 %", "12,796");
		}
		return rows.length;
	})()`))
	if rows == 0 {
		t.Error("the leaderboard is empty")
	}
	for _, width := range []int64{1440, 1280} {
		b.fits(t, "/traders with large numbers", look{width, "light"})
	}
	b.keep(t, "traders-large")
}

// A file of the catalogue: the meaning of its columns, the request, the download, and the code that
// reads it; without a key the page says that one is needed.
func theFiles(t *testing.T, b *tab, v venue) {
	b.look(t, 1280, "light")
	ask := `#set-markets button[type="submit"]`
	b.useKey(t, "")
	b.visit(t, "/data?dataset=markets")
	b.until(t, "a key is asked for", `document.querySelector('main .state[data-kind="locked"]')`)
	b.errors() // the browser reports the 401
	b.useKey(t, v.key)
	b.visit(t, "/data?dataset=markets")
	if text := give(t, b, chromedp.Text(chromedp.CSS("#set-markets table"))); !strings.Contains(text, "condition id of the market, 0x and 64") {
		t.Errorf("the columns are not explained: %s", text)
	}
	b.click(t, ask)
	b.click(t, `#set-markets button[data-ready]`)
	b.until(t, "the file is saved", `document.querySelector("#set-markets .job").textContent.includes("Saved.")`)
	text := give(t, b, chromedp.Text(chromedp.CSS("#set-markets .job")))
	for _, want := range []string{"pandas.read_parquet", "read_parquet('pmx-markets-", "SHA-256"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
	b.fits(t, "/data", look{360, "dark"})
	b.keep(t, "data-ready")
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}

// The order of a table and the outcome of the holders are in the address, so that it shows everyone
// the same.
func theOrder(t *testing.T, b *tab, v venue) {
	b.look(t, 1280, "light")
	b.visit(t, "/weather/traders")
	sorted := func() string {
		return give(t, b, chromedp.Evaluate[string](`[...document.querySelectorAll("th[aria-sort]")].map((h) => h.textContent + " " + h.getAttribute("aria-sort")).join(", ") + " " + location.search`))
	}
	first := func() string {
		return give(t, b, chromedp.Evaluate[string](`document.querySelector("table.rows tbody tr").textContent`))
	}
	press := func(column string) {
		give(t, b, chromedp.Evaluate[string](`[...document.querySelectorAll("button.sorter")].find((x) => x.textContent === "`+column+`").click(); ""`))
	}
	press("Fills")
	if got := sorted(); got != "Fills descending ?rows=wallets-in-weather-markets.fills" {
		t.Error(got)
	}
	press("Fills")
	fewest, address := first(), give(t, b, chromedp.Evaluate[string](`location.pathname + location.search`))
	b.visit(t, address)
	if got := sorted(); got != "Fills ascending ?rows=wallets-in-weather-markets.fills.up" || first() != fewest {
		t.Errorf("%s, first %q, was %q", got, first(), fewest)
	}
	b.visit(t, "/compare?address="+v.wallet+"&address="+v.other)
	if !give(t, b, chromedp.Evaluate[bool](`document.getElementById("another").checkVisibility()`)) {
		t.Error("there is nowhere to enter another wallet")
	}
	b.visit(t, "/market/"+v.market+"?holders=1&step=1h&flow=7d")
	if got := give(t, b, chromedp.Evaluate[string](`[...document.querySelectorAll('[aria-label="Outcome"] button')].map((x) => x.getAttribute("aria-pressed")).join()`)); got != "false,true" {
		t.Errorf("outcomes of the holders: %s", got)
	}
	give(t, b, chromedp.Evaluate[string](`document.querySelector('[aria-label="Outcome"] button').click(); ""`))
	b.settle(t, "holders")
	if got := give(t, b, chromedp.Evaluate[string](`location.search`)); got != "?flow=&step=1h" && got != "?step=1h" {
		t.Errorf("the address is %s", got)
	}
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}
