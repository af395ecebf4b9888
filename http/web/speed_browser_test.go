package web_test

import (
	"encoding/json"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// readyAt records when every section of a page is filled, in ms since the navigation, and when
// something was first painted.
const readyAt = `new MutationObserver(() => {
	if (!window.readyAt && document.querySelector("#explorer section.panel") && !document.querySelector("main [aria-busy]")) window.readyAt = performance.now();
}).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ["aria-busy"]})`

// hovering draws a plot of 10,000 points and moves the pointer over it, one step per frame, and
// returns the times of the frames. The page's own modules draw it.
const hovering = `(async () => {
	const base = await import(document.querySelector('script[src*="/base."]').src), plots = await import(document.querySelector('link[href*="/plots."]').href);
	const n = 10000, times = [], values = [];
	for (let i = 0; i < n; i++) { times.push(new Date(Date.UTC(2025, 0, 1) + i * 3600000).toISOString()); values.push(new base.$core.Exact(String(Math.round(1e6 * Math.sin(i / 300)) / 100), "")); }
	const node = plots.$plot.plot({name: "ten thousand", times, panes: [{height: 220, form: "profit", zero: true, series: [{name: "total", values}]}]});
	document.getElementById("explorer").prepend(node);
	scrollTo(0, 0);
	const frame = () => new Promise((done) => requestAnimationFrame(done));
	const began = performance.now();
	node.draw();
	const drawn = performance.now() - began;
	for (let i = 0; i < 30; i++) await frame();
	const over = node.querySelector(".u-over"), box = over.getBoundingClientRect(), frames = [], work = [];
	let last = await frame(), told = 0, text = "";
	for (let i = 0; i < 240; i++) {
		const at = performance.now();
		over.dispatchEvent(new MouseEvent("mousemove", {bubbles: true, clientX: box.left + box.width * (i % 120) / 120, clientY: box.top + 60}));
		work.push(performance.now() - at);
		const now = await frame();
		frames.push(now - last);
		last = now;
		if (node.querySelector(".readout").textContent !== text) { text = node.querySelector(".readout").textContent; told++; }
	}
	const rank = (list, q) => [...list].sort((a, b) => a - b)[Math.floor(q * (list.length - 1))];
	document.body.dataset.hover = JSON.stringify({Points: node.x.length, Drawn: drawn, Told: told, Median: rank(frames, 0.5), P95: rank(frames, 0.95), Work: rank(work, 0.95)});
})().catch((e) => { document.body.dataset.hover = JSON.stringify({Failed: String(e)}); }), ""`

// This measures how long pages take until every section is filled, and a frame while the pointer
// moves over a plot of 10,000 points. The figures are only logged: a test does not depend on the
// machine's speed. docs/performance.md has those of an idle one.
func TestSpeedInARealBrowser(t *testing.T) {
	b, v := openVenue(t)
	b.look(t, 1440, "light")
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: readyAt}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/trader/" + v.wallet, "/market/" + v.market, "/weather/" + v.city, "/screener"} {
		var taken []float64
		for range 5 {
			b.visit(t, path)
			b.until(t, "all is there", `window.readyAt`)
			taken = append(taken, give(t, b, chromedp.Evaluate[float64](`window.readyAt`)))
		}
		t.Logf("%s: every part is filled after %.0f ms", path, taken)
	}
	b.visit(t, "/")
	give(t, b, chromedp.Evaluate[string](hovering))
	b.until(t, "the pointer moved", `document.body.dataset.hover`)
	var got struct {
		Points, Told             int
		Drawn, Median, P95, Work float64
		Failed                   string
	}
	if err := json.Unmarshal([]byte(give(t, b, chromedp.Evaluate[string](`document.body.dataset.hover`))), &got); err != nil {
		t.Fatal(err)
	}
	if got.Failed != "" || got.Points != 10_000 || got.Told < 60 {
		t.Errorf("the plot was not read: %+v", got)
	}
	t.Logf("10,000 points: drawn in %.1f ms; while the pointer moves a frame takes %.1f ms, p95 %.1f, of which the page's own work p95 %.1f", got.Drawn, got.Median, got.P95, got.Work)
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}
