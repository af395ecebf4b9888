package web_test

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// altered.js replaces the API's answers with ones that have fewer values, or other names.
//
//go:embed testdata/altered.js
var alteredAnswers string

// holes is a file of fills whose market nothing tells, by a wallet with a name.
const holes = "ts,address,username,token_id,side,shares,usd,role,transaction_hash\n" +
	"2026-11-19T23:50:00Z,%s,Nobody 7,99999,BUY,50000,25000,taker,0x%064d\n"

// holed is the wallet of those fills.
var holed = fmt.Sprintf("0x%040d", 7)

// several is a market of seven outcomes; each is traded more than the one before.
var several = fmt.Sprintf("0x%064d", 8)

// writeFurther writes files with what the sample venue does not have into a new folder in dir: holes, and several.
func writeFurther(t *testing.T, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "further")
	fills := "ts,address,token_id,side,shares,usd,role,transaction_hash\n"
	var names, tokens []string
	for o := range 7 {
		names, tokens = append(names, fmt.Sprintf("%q", fmt.Sprintf("Candidate %c of a party with a long name", 'A'+o))), append(tokens, fmt.Sprintf("%q", fmt.Sprint(88880+o)))
		for day := range 5 {
			fills += fmt.Sprintf("2026-11-%dT0%d:00:00Z,%s,%d,BUY,%d,%d,taker,0x%064d\n", 12+day, o, holed, 88880+o, 20*(o+1), (o+1)*(1+day%2), 1000+10*o+day)
		}
	}
	markets := fmt.Sprintf(`{"condition_id":%q,"question":"Who of seven wins?","outcomes":[%s],"token_ids":[%s]}`, several, strings.Join(names, ","), strings.Join(tokens, ","))
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"holes.csv": fmt.Sprintf(holes, holed, 7), "markets.ndjson": markets, "fills.csv": fills} {
		if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// unknowns returns the texts and links that are made of something that is not known, and headings without text. The texts
// of the catalogue of datasets say null themselves.
const unknowns = `[document.title, ...[...document.querySelectorAll("main a[href]")].map((a) => a.getAttribute("href")),
	...[...document.querySelectorAll("main *:not(.set *, pre *)")].flatMap((n) => [...n.childNodes]).filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.data)]
	.filter((text) => /\b(null|undefined|NaN|Invalid Date)\b|\[object/.test(text)).concat([...document.querySelectorAll("main :is(h1, h2, h3)")].filter((n) => !n.textContent.trim()).map((n) => n.outerHTML)).join(" | ")`

// Whatever the API does not know, no part of a page fails, and nothing unknown is shown as a word or
// a link: with fills of unknown markets, without any value that can be null, and without any object
// that can be null or left out.
func theHoles(t *testing.T, b *tab, v venue) {
	b.look(t, 1280, "light")
	for _, path := range []string{"/", "/whales", "/trader/" + holed} {
		b.visit(t, path)
		b.until(t, path+" says that a market is not known", `[...document.querySelectorAll("table .none")].some((n) => n.textContent === "market not known yet" && n.checkVisibility() && !n.closest("a"))`)
		b.keep(t, "holes-"+path)
	}
	for _, how := range []string{"", "holes", "no parts"} {
		undo := func() {}
		if how != "" {
			undo = b.with(t, fmt.Sprintf("(%s)(%q)", alteredAnswers, how))
		}
		for _, path := range append(explorerPages(v), "/weather/"+v.city+"?date=2026-11-17", "/trader/"+holed, statusPath) {
			at := path + " with " + how
			r := b.visit(t, path)
			failed := append(r.Failed, b.unfold(t, path).Failed...)
			for _, f := range failed {
				t.Errorf("%s: failed = %s", at, f)
			}
			if words := give(t, b, chromedp.Evaluate[string](unknowns)); words != "" {
				t.Errorf("%s shows %s", at, words)
			}
			for _, bad := range b.errors() {
				t.Errorf("%s: bad = %s", at, bad)
			}
		}
		undo()
	}
}

// mirrored returns the texts without a name whose letters run from right to left.
const mirrored = `[...document.querySelectorAll("body *:not(script, style, noscript, noscript *, option)")].flatMap((n) => [...n.childNodes]).filter((n) => n.nodeType === Node.TEXT_NODE && !n.data.includes("\u202e")).filter((n) => {
	const at = n.data.search(/[0-9A-Za-z]{2}/), letter = (i) => { const r = document.createRange(); r.setStart(n, i); r.setEnd(n, i + 1); return r.getBoundingClientRect(); };
	return at >= 0 && letter(at).width > 0 && letter(at).top === letter(at + 1).top && letter(at).left > letter(at + 1).left;
}).map((n) => n.data).join(" | ")`

// A name that runs from right to left, and does not end that, changes no text next to it, such as an address.
func theNames(t *testing.T, b *tab, v venue) {
	b.look(t, 1280, "light")
	undo := b.with(t, fmt.Sprintf("(%s)(%q)", alteredAnswers, "names"))
	defer undo()
	for _, path := range append(explorerPages(v), "/weather/"+v.city+"?date=2026-11-17", "/trader/"+holed) {
		b.visit(t, path)
		for _, f := range b.unfold(t, path).Failed {
			t.Errorf("%s: failed = %s", path, f)
		}
		if named := give(t, b, chromedp.Evaluate[bool](`document.body.textContent.includes("\u202e")`)); !named && path != "/docs/style" {
			t.Errorf("%s has no name", path)
		}
		if texts := give(t, b, chromedp.Evaluate[string](mirrored)); texts != "" {
			t.Errorf("%s mirrors %s", path, texts)
		}
		for _, bad := range b.errors() {
			t.Errorf("%s: bad = %s", path, bad)
		}
		b.keep(t, "names-"+path)
	}
	give(t, b, chromedp.Evaluate[string](`(() => { const f = document.getElementById("find"); f.value = "temperature"; f.dispatchEvent(new Event("input")); })(), ""`))
	b.until(t, "the search answers", `document.querySelectorAll("#found [role=option] a").length > 1`)
	if texts := give(t, b, chromedp.Evaluate[string](mirrored)); texts != "" {
		t.Errorf("the search mirrors %s", texts)
	}
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}

// A market with many outcomes shows as many lines as can be told apart, says which, and has candles and holders of each.
func theOutcomes(t *testing.T, b *tab, _ venue) {
	b.look(t, 1280, "light")
	b.visit(t, "/market/"+several)
	panel := `[...document.querySelectorAll(".panel")].find((n) => n.querySelector("h2").textContent === "Price")`
	if got := give(t, b, chromedp.Evaluate[string](panel+`.querySelector(".lead").textContent + [...`+panel+`.querySelectorAll(".legend li")].map((n) => n.textContent.slice(0, 11)).join()`)); got != "the last price paid by a taker in each step; the 5 most traded of 7 outcomes, candles show eachCandidate C,Candidate D,Candidate E,Candidate F,Candidate G" {
		t.Errorf("prices of %s", got)
	}
	b.visit(t, "/market/"+several+"?shape=candles&outcome=6&holders=6")
	if got := give(t, b, chromedp.Evaluate[string](`[...document.querySelectorAll(".opts select")].map((n) => n.options.length + n.selectedOptions[0].text.slice(0, 11)).join()`)); got != "7Candidate G,7Candidate G,4auto" {
		t.Errorf("lists of outcomes are %s", got)
	}
	if got := give(t, b, chromedp.Evaluate[string](panel+`.querySelector(".readout").textContent`)); !strings.Contains(got, "Candidate G of a party with a long name 5.0¢") || !strings.Contains(got, "volume, USD 7") {
		t.Errorf("the last candle is %s", got)
	}
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}
