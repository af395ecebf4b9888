package web_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// unwatched makes plots neither notice that they come into view nor that their width changes: on paper nothing tells them.
const unwatched = `window.IntersectionObserver = window.ResizeObserver = class { observe() {} unobserve() {} }`

// badPlots returns the plots that are not drawn, blank, or not as wide as their place, with the widths of both.
const badPlots = `(() => {
	const blank = (c) => !new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer).some(Boolean);
	return [...document.querySelectorAll("pmx-plot .canvases")].flatMap((place) => {
		const wide = place.getBoundingClientRect().width, all = [...place.querySelectorAll("canvas")];
		return all.length ? all.map((c) => [c.getBoundingClientRect().width, blank(c)]).filter(([w, nothing]) => nothing || Math.abs(w - wide) > 1).map(([w, nothing]) => (nothing ? "blank " : "") + w + " in " + wide) : ["not drawn"];
	}).join(", ");
})()`

// On paper, plots are whole, also those that were not in view, and in light colours; after printing the page is as before.
// Tables are not cut either.
func thePaper(t *testing.T, b *tab, v venue) {
	media := func(name string) {
		t.Helper()
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: name}); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"/", "/trader/" + v.wallet, "/market/" + v.market, "/event/" + v.event, "/weather/" + v.city, "/whales?period=30d"} {
		for _, width := range []int64{1280, 390} {
			b.look(t, width, "dark")
			undo := b.with(t, unwatched)
			b.visit(t, path)
			undo()
			n := give(t, b, chromedp.Evaluate[int64](`dispatchEvent(new Event("beforeprint")), document.querySelectorAll("pmx-plot .canvases").length`))
			if n == 0 {
				t.Errorf("%s has no plot", path)
			}
			b.do(t, chromedp.EmulateViewport(718, 1000))
			media("print")
			if bad := give(t, b, chromedp.Evaluate[string](badPlots)); bad != "" {
				t.Errorf("%s printed from %d px: of %d plots bad are %s", path, width, n, bad)
			}
			if wide := give(t, b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > 718 {
				t.Errorf("%s printed from %d px is %d px wide on a sheet of 718", path, width, wide)
			}
			cut := `[...document.querySelectorAll(".tabled")].filter((n) => n.scrollWidth > n.clientWidth + 1).map((n) => n.querySelector("caption").textContent).join()`
			if names := give(t, b, chromedp.Evaluate[string](cut)); names != "" {
				t.Errorf("%s printed from %d px has tables that are too wide: %s", path, width, names)
			}
			media("")
		}
	}
	b.printsAndGoesOn(t, "/trader/"+v.wallet)
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}

// printsAndGoesOn really prints a page, and checks what it drew for that and that its plots are as before afterwards.
func (b *tab) printsAndGoesOn(t *testing.T, path string) {
	t.Helper()
	b.look(t, 1280, "dark")
	b.visit(t, path)
	const told = `JSON.stringify([document.documentElement.style.cssText, [...document.querySelectorAll("pmx-plot canvas")].map((c) => c.offsetWidth), document.documentElement.dataset.theme || ""])`
	before := give(t, b, chromedp.Evaluate[string](`addEventListener("beforeprint", () => { window.drawn = document.querySelectorAll("pmx-plot canvas").length + document.documentElement.dataset.theme; }), `+told))
	out, err := chromedp.Call(b.ctx, page.PrintToPDF, page.PrintToPDFParams{})
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("PMX_SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "paper.pdf"), out.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if drawn := give(t, b, chromedp.Evaluate[string](`window.drawn`)); drawn != "2light" {
		t.Errorf("%s was printed with the panes and colours %s", path, drawn)
	}
	if after := give(t, b, chromedp.Evaluate[string](told)); after != before {
		t.Errorf("%s is %s after printing, was %s", path, after, before)
	}
}
