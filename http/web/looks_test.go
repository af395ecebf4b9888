package web_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// look is the width of a window and a colour scheme.
type look struct {
	width  int64
	scheme string
}

// looks returns the looks in which every page is checked.
func looks() []look {
	var all []look
	for _, width := range []int64{1920, 1280, 768, 360} {
		all = append(all, look{width, "light"}, look{width, "dark"})
	}
	return append(all, look{320, "light"})
}

// headerHeight is the maximum height of the header in px: one line.
const headerHeight = 60

// longest is the maximum length of a page of the reference on a desktop, in px.
const longest = 4000

// docsPages returns the pages of the reference, with one for all errors, which differ only in their
// texts, and the status page.
func docsPages(t *testing.T) []string {
	t.Helper()
	paths := []string{"/status"}
	for path := range allPages(t, newBrowser(t)) {
		if strings.HasPrefix(path, "/docs") && (!strings.HasPrefix(path, "/docs/problems/") || strings.HasSuffix(path, "rate_limited")) {
			paths = append(paths, path)
		}
	}
	return paths
}

// fits checks a page in a look: nothing is wider than the window, no table is cut, and the header
// is one line.
func (b *tab) fits(t *testing.T, path string, l look) {
	t.Helper()
	b.look(t, l.width, l.scheme)
	if wide := give(t, b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > l.width {
		t.Errorf("%s is %d px wide in a window of %d", path, wide, l.width)
	}
	if high := give(t, b, chromedp.Evaluate[int64](`document.querySelector("header").offsetHeight`)); high > headerHeight {
		t.Errorf("%s at %d has a header of %d px", path, l.width, high)
	}
	cut := `[...document.querySelectorAll(".tabled")].filter((n) => n.scrollWidth > n.clientWidth + 1).map((n) => n.querySelector("caption").textContent).join()`
	if names := give(t, b, chromedp.Evaluate[string](cut)); names != "" {
		t.Errorf("%s at %d cuts the tables %s", path, l.width, names)
	}
}

// watching records which elements get the focus, and which of them do not show it.
const watching = `(() => {
	window.held = new Set(); window.unseen = [];
	document.activeElement.blur();
	addEventListener("focusin", (e) => {
		held.add(e.target);
		if (getComputedStyle(e.target).outlineStyle === "none") unseen.push(e.target.outerHTML.slice(0, 120));
	});
	return controls().reduce((sum, n) => sum + (n.type === "date" ? 4 : 1), 0); // a date is day, month, year and calendar
})()`

// controls returns the visible controls.
const controls = `window.controls = () => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
	.filter((n) => n.checkVisibility({visibilityProperty: true}) && !n.disabled && n.tabIndex >= 0), ""`

// reached presses the Tab key through a page: every control gets the focus and shows it.
func (b *tab) reached(t *testing.T, path string) {
	t.Helper()
	b.look(t, 1280, "light")
	give(t, b, chromedp.Evaluate[string](controls))
	n := give(t, b, chromedp.Evaluate[int64](watching))
	for range n + 3 {
		b.do(t, chromedp.KeyEvent("\t"))
	}
	if left := give(t, b, chromedp.Evaluate[string](`controls().filter((n) => !held.has(n)).map((n) => n.outerHTML.slice(0, 120)).join(" | ")`)); left != "" {
		t.Errorf("%s: the Tab key does not reach %s", path, left)
	}
	if blind := give(t, b, chromedp.Evaluate[string](`unseen.join(" | ")`)); blind != "" {
		t.Errorf("%s: nothing shows that the focus is on %s", path, blind)
	}
	if n == 0 {
		t.Errorf("%s has no control", path)
	}
}
