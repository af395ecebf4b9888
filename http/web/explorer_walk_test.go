package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// until waits until an expression is true in the page.
func (b *tab) until(t *testing.T, what, expression string) {
	t.Helper()
	for range 200 {
		holds, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`Boolean(`+expression+`)`))
		if err != nil && !strings.Contains(err.Error(), "navigated") { // the page was left during the evaluation
			t.Fatal(err)
		}
		if holds {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s: %s does not become true", what, expression)
}

// click clicks the first element that matches a selector.
func (b *tab) click(t *testing.T, selector string) {
	t.Helper()
	b.until(t, selector+" is there", fmt.Sprintf(`document.querySelector(%q)`, selector))
	b.do(t, chromedp.Click(chromedp.CSS(selector)))
}

// A new visitor starts at the root address: the best trader of the week is one click away, that
// page explains the profit, and the file with everything takes three clicks.
func threeClicks(t *testing.T, b *tab, v venue) {
	b.look(t, 1280, "light")
	best := v.first(t, "/leaderboard/traders?period=7d&limit=1", "address")
	link := `section[aria-labelledby] table.rows a[href="/trader/` + best + `"]`
	for _, path := range []string{"/traders", "/"} { // profit is never shown without its parts
		b.visit(t, path)
		b.until(t, "the best trader stands on "+path, fmt.Sprintf(`document.querySelector(%q)`, `table a[href="/trader/`+best+`"]`))
		row := give(t, b, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector(%q).closest("tr").textContent`, `table a[href="/trader/`+best+`"]`)))
		if !strings.Contains(row, " resolved, ") || !strings.Contains(row, " unresolved cash") || strings.Contains(row, "– ") {
			t.Errorf("%s shows the profit as %q", path, row)
		}
	}
	b.click(t, link) // 1: who
	b.until(t, "the wallet's page", `location.pathname === "/trader/`+best+`" && document.querySelector("#sums")`)
	shown := give(t, b, chromedp.Evaluate[string](`JSON.stringify({profit: document.querySelector(".big [data-v]").dataset.v, split: document.querySelector("#split").textContent,
		parts: [...document.querySelectorAll("#sums td:last-child [data-v]")].map((n) => n.dataset.v)})`))
	var page struct {
		Profit, Split string
		Parts         []string
	}
	if err := json.Unmarshal([]byte(shown), &page); err != nil {
		t.Fatal(err)
	}
	data := at(v.get(t, "/api/v3/trader/"+best+"/stats"), "/data")
	if want := fmt.Sprint(at(data, "/real_pnl")); page.Profit != want || page.Parts[len(page.Parts)-1] != want {
		t.Errorf("the profit is %s, the page shows %s and %v", want, page.Profit, page.Parts)
	}
	if !strings.Contains(page.Split, "resolved markets") || !strings.Contains(page.Split, "not resolved yet") {
		t.Errorf("the split is %q", page.Split)
	}
	b.click(t, "#export")                      // 1: the file
	b.click(t, `#files button[type="submit"]`) // 2
	b.click(t, `button[data-ready]`)           // 3
	b.until(t, "the file is saved", `document.querySelector(".job").textContent.includes("Saved.")`)
	if text := give(t, b, chromedp.Text(chromedp.CSS(".job"))); !strings.Contains(text, "pandas") || !strings.Contains(text, "DuckDB") {
		t.Errorf("the file comes without the lines that read it: %s", text)
	}
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}

// A missing key is requested, kept in the tab, stored on the device only if that was ticked, and
// removed on request. A wrong one is refused.
func theKey(t *testing.T, b *tab, v venue) {
	b.look(t, 1280, "light")
	b.useKey(t, "")
	stores := func() string {
		return give(t, b, chromedp.Evaluate[string](`(sessionStorage.getItem("pmx-key") || "") + "|" + (localStorage.getItem("pmx-key") || "") + "|" + document.cookie`))
	}
	enter := func(key string, remember bool) {
		t.Helper()
		b.do(t, chromedp.Click(chromedp.CSS(".state button")), chromedp.WaitVisible(chromedp.CSS("#key")), chromedp.SendKeys(chromedp.CSS("#key"), key))
		if remember {
			b.do(t, chromedp.Click(chromedp.CSS("#remember")))
		}
		b.do(t, chromedp.Click(chromedp.CSS(".keyform button")))
	}
	b.visit(t, "/traders")
	b.until(t, "a key is asked for", `document.querySelector(".state[data-kind=locked]")`)
	enter("pmx_wrong", true)
	b.until(t, "a wrong key is refused", `document.querySelector(".keyform").textContent.includes("does not know this key")`)
	if got := stores(); got != "||" {
		t.Errorf("a wrong key is kept: %s", got)
	}
	for _, remember := range []bool{false, true} {
		b.visit(t, "/traders")
		enter(v.key, remember)
		b.until(t, "the leaderboard is there", `document.querySelector("table.rows tbody tr")`)
		want := v.key + "||"
		if remember {
			want = "|" + v.key + "|"
		}
		if got := stores(); got != want {
			t.Errorf("remembered %v, kept %q", remember, got)
		}
		b.do(t, chromedp.Click(chromedp.CSS(".keybox summary")), chromedp.Click(chromedp.CSS("#forget")))
		b.until(t, "a key is asked for again", `document.querySelector(".state[data-kind=locked]")`)
		if got := stores(); got != "||" {
			t.Errorf("after forgetting: %s", got)
		}
	}
	b.errors() // the browser reports each 401
}

// Without a mouse: the search works, a plot is read with the arrow keys, a table can be sorted, and
// every control can be reached.
func theKeyboard(t *testing.T, b *tab, v venue) {
	b.look(t, 1280, "light")
	b.visit(t, "/trader/"+v.wallet)
	press := func(keys string) {
		t.Helper()
		b.do(t, chromedp.KeyEvent(keys))
	}
	b.until(t, "the plot is drawn", `document.querySelector("pmx-plot canvas")`)
	give(t, b, chromedp.Evaluate[string](`document.querySelector("pmx-plot [role=slider]").focus(), ""`))
	read := func() string {
		return give(t, b, chromedp.Evaluate[string](`document.querySelector("pmx-plot [role=slider]").getAttribute("aria-valuetext")`))
	}
	before := read()
	give(t, b, chromedp.Evaluate[string](`document.querySelector("pmx-plot [role=slider]").dispatchEvent(new KeyboardEvent("keydown", {key: "Home", bubbles: true})), ""`))
	first := read()
	if first == before || !strings.Contains(first, "total") {
		t.Errorf("Home moves from %q to %q", before, first)
	}
	give(t, b, chromedp.Evaluate[string](`document.activeElement.blur(), ""`))
	press("/")
	b.until(t, "the search has the focus", `document.activeElement.id === "find"`)
	press("temperature")
	b.until(t, "the search answers", `document.querySelectorAll("#found [role=option] a").length > 1`)
	give(t, b, chromedp.Evaluate[string](`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true})), ""`))
	kinds := give(t, b, chromedp.Evaluate[string](`[...document.querySelectorAll("#found a")].map((a) => a.getAttribute("href").split("/")[1]).join()`))
	if !strings.Contains(kinds, "event") || !strings.Contains(kinds, "market") {
		t.Errorf("the search finds %s", kinds)
	}
	b.until(t, "an answer is chosen", `document.querySelector('#found [aria-selected="true"]').id === document.getElementById("find").getAttribute("aria-activedescendant")`)
	b.visit(t, "/markets")
	give(t, b, chromedp.Evaluate[string](`document.querySelectorAll(".sorter")[0].click(), ""`))
	sorted := give(t, b, chromedp.Evaluate[bool](`(() => { const v = [...document.querySelectorAll("td.key [data-v]")].map((n) => Number(n.dataset.v)); return v.length > 5 && v.every((x, i) => i === 0 || v[i - 1] >= x) && document.querySelector("th[aria-sort=descending]") !== null; })()`))
	if !sorted {
		t.Error("the table does not sort by its first column")
	}
	hidden := give(t, b, chromedp.Evaluate[int64](`[...document.querySelectorAll("a, button, input, select, summary")].filter((n) => n.checkVisibility() && n.tabIndex < 0).length`))
	if hidden > 0 {
		t.Errorf("%d controls cannot be reached", hidden)
	}
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}

// A plot of up to three times is shown as a table: a market with a single step, and a wallet with a
// few days.
func theFewValues(t *testing.T, b *tab, v venue) {
	b.look(t, 1280, "light")
	days, _ := at(v.get(t, "/api/v3/trader/"+v.few+"/activity/daily?limit=365"), "/data").([]any)
	for path, want := range map[string]int{"/market/" + v.first(t, "/screener?min_trades=1&max_trades=1&limit=1", "condition_id"): 1, "/trader/" + v.few: len(days)} {
		b.visit(t, path)
		got := give(t, b, chromedp.Evaluate[string](`[..."tbody tr,canvas,summary".split(",")].map((of) => document.querySelector("pmx-plot").querySelectorAll(of).length).join()`))
		if want < 1 || want > 3 || got != fmt.Sprintf("%d,0,0", want) {
			t.Errorf("%s: %d times are shown in rows, canvases and foldings: %s", path, want, got)
		}
	}
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}

// Every section of every page has one control with other ways to get its data: it opens with JSON,
// also has curl and Python, names the real host and never the key, and is closed by Escape.
func theWays(t *testing.T, b *tab, v venue) {
	b.look(t, 1280, "light")
	for _, path := range explorerPages(v) {
		b.visit(t, path)
		if bare := give(t, b, chromedp.Evaluate[string](`[...document.querySelectorAll("[data-panel]")].filter((n) => n.querySelectorAll(".head .tool").length !== 1).map((n) => n.textContent.slice(0, 40)).join()`)); bare != "" {
			t.Errorf("%s: no one way to JSON in %s", path, bare)
		}
	}
	b.visit(t, "/traders?period=30d")
	shown := `document.querySelector(".tooling:not([hidden]) pre")`
	text := func() string {
		t.Helper()
		b.until(t, "it opens", shown)
		return give(t, b, chromedp.Evaluate[string](shown+`.textContent`))
	}
	b.click(t, ".panel .tool")
	if got := text(); !strings.Contains(got, `"rank": 1,`) {
		t.Errorf("as JSON: %.200s", got)
	}
	for kind, want := range map[string]string{"curl": `curl -H "X-API-Key: $PMX_KEY" '` + b.base + `/api/v3/leaderboard/traders?period=30d`, "Python": "requests.get(\n    \"" + b.base + "/api/v3/leaderboard/traders?period=30d"} {
		b.click(t, `.tooling:not([hidden]) [data-tool="`+kind+`"]`)
		b.until(t, kind, shown+`.getAttribute("aria-label") === "As `+kind+`"`)
		if got := text(); !strings.Contains(got, want) || strings.Contains(got, v.key) {
			t.Errorf("as %s: got %s", kind, got)
		}
	}
	b.fits(t, "/traders with its request", look{360, "dark"})
	b.do(t, chromedp.KeyEvent("\u001b"))
	b.until(t, "Escape closes it", `!(`+shown+`) && document.activeElement.matches(".tool")`)
	give(t, b, chromedp.Evaluate[string](`document.activeElement.blur(), ""`))
	b.do(t, chromedp.KeyEvent("c"))
	if got := text(); !strings.HasPrefix(got, "curl ") {
		t.Errorf("the key c: got %s", got)
	}
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}

// A server without single trades has only the plain leaderboard: both pages show it, with the
// profit split as far as it is known, and say so. A filter that it does not support shows the text
// of the problem.
func leaderboardsWithoutTrades(t *testing.T, b *tab, _ venue) {
	b.look(t, 1280, "light")
	refuse := `window.fetch = ((real) => (at, how) => (decodeURIComponent(String(at)).match(/leaderboard.traders[^ ]*include=/)
		? Promise.resolve(new Response('{"status":501,"code":"fills_elsewhere","title":"Fills elsewhere","detail":"Ask the server that has them."}', {status: 501})) : real(at, how)))(window.fetch)`
	row := `document.querySelector("table .profit .split, .three table .split").textContent`
	for _, path := range []string{"/", "/traders"} {
		b.visit(t, path)
		if got := give(t, b, chromedp.Evaluate[string](row)); !strings.Contains(got, " unresolved cash") {
			t.Errorf("%s shows the split %q", path, got)
		}
		give(t, b, chromedp.Evaluate[string](refuse+`, document.querySelector('.choice [data-value="30d"]').click(), ""`))
		b.settle(t, path)
		if got := give(t, b, chromedp.Evaluate[string](row)); !strings.Contains(got, " cash, ") || !strings.Contains(got, " settled") {
			t.Errorf("%s shows the split %q where there are no single trades", path, got)
		}
	}
	if text := give(t, b, chromedp.Text(chromedp.CSS("main"))); !strings.Contains(text, "This server has no single trades") {
		t.Errorf("the page does not say that the split is not known: %s", text)
	}
	give(t, b, chromedp.Evaluate[string](`(() => { const list = document.querySelector(".pick select"); list.value = "sports"; list.dispatchEvent(new Event("change")); })(), ""`))
	if failed := b.settle(t, "/traders").Failed; len(failed) != 1 || !strings.Contains(failed[0], "Ask the server that has them.") {
		t.Errorf("a filter without single trades: got %v", failed)
	}
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}

// If the plan cuts a list, the page says so there, and names the plan that shows more.
func limitsOfThePlan(t *testing.T, b *tab, v venue) {
	b.look(t, 1280, "light")
	b.useKey(t, v.free)
	b.visit(t, "/traders")
	text := give(t, b, chromedp.Text(chromedp.CSS("main")))
	if !strings.Contains(text, "the plan free gives at most") || !strings.Contains(text, "20 rows") || !strings.Contains(text, "The plan explorer shows more.") {
		t.Errorf("what the plan cut is not said: %s", text)
	}
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}
