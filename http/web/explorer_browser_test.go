package web_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"pmx/http/web"
	"pmx/http/wire"
)

// read.js returns what a page shows: its exact numbers, other texts with digits, and how it fits
// the window.
//
//go:embed testdata/read.js
var readPage string

// venue is a served sample venue.
type venue struct {
	base, key, free              string
	wallet, other, market, event string
	few                          string // a wallet with a few days
	city                         string
}

// serveSample runs the program with a small sample venue. PMX_BROWSER names the program.
func serveSample(t *testing.T) venue {
	t.Helper()
	program := os.Getenv("PMX_BROWSER")
	if !filepath.IsAbs(program) {
		t.Skip("PMX_BROWSER does not name the program to look at: make browser does")
	}
	dir := t.TempDir()
	do := func(args ...string) string {
		cmd := exec.Command(program, args...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("pmx %s: %v\n%s", strings.Join(args, " "), err, errs.Bytes())
		}
		return string(out)
	}
	data := filepath.Join(dir, "data")
	do("sample", "--fills", "20000", "--out", filepath.Join(dir, "venue"))
	do("import", "--data-dir", data, filepath.Join(dir, "venue"), writeFurther(t, dir))
	issue := func(tier string) string {
		var issued struct{ Key string }
		if err := json.Unmarshal([]byte(do("keys", "issue", "--data-dir", data, "--tier", tier, "--label", "test", "--json")), &issued); err != nil {
			t.Fatal(err)
		}
		return issued.Key
	}
	v := venue{key: issue("alpha"), free: issue("free")}
	cmd := exec.Command(program, "serve", "--data-dir", data, "--listen", "127.0.0.1:0", "--historical", "--log", filepath.Join(dir, "log"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	if _, err := fmt.Fscanf(out, "ready %s\n", &v.base); err != nil {
		t.Fatalf("the server prints no address: %v", err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	v.base = strings.TrimSuffix(v.base, "/api/v3")
	v.wallet = v.first(t, "/leaderboard/traders?limit=1&period=30d&sort=volume&min_resolved=20", "address")
	v.few = v.first(t, "/leaderboard/traders?limit=1&period=30d", "address")
	v.other = v.first(t, "/leaderboard/traders?limit=1&offset=1&period=30d&sort=volume&min_resolved=20", "address")
	v.city = v.first(t, "/weather/cities", "city")
	v.market = v.first(t, "/leaderboard/markets?limit=1&period=30d", "condition_id")
	v.event = v.first(t, "/leaderboard/markets?limit=1&period=30d", "event_slug")
	return v
}

// get reads a response of the API, with its numbers as they are written.
func (v venue) get(t *testing.T, path string) any {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", v.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	in := json.NewDecoder(res.Body)
	in.UseNumber()
	var body any
	if err := in.Decode(&body); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return body
}

// first returns a field of the first row of a list.
func (v venue) first(t *testing.T, path, field string) string {
	t.Helper()
	text, ok := at(v.get(t, "/api/v3"+path), "/data/0/"+field).(string)
	if !ok {
		t.Fatalf("%s has no %s", path, field)
	}
	return text
}

// at returns the value at a JSON pointer; nil if there is none.
func at(value any, pointer string) any {
	for _, name := range strings.Split(pointer, "/")[1:] {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// reading is the result of read.js.
type reading struct {
	Numbers []struct{ V, Src, Text string }
	Bare    []string
	Wide    int64
	Busy    int64
	Failed  []string
}

// openVenue opens a tab for the sample venue with a key.
func openVenue(t *testing.T) (*tab, venue) {
	t.Helper()
	b, _ := openTab(t)
	v := serveSample(t)
	b.base = v.base
	if err := chromedp.Listen(b.ctx, func(event any) {
		b.weighed(event)
		e, ok := event.(*network.EventRequestWillBeSent)
		if !ok || strings.HasPrefix(e.Request.URL, "data:") || strings.HasPrefix(e.Request.URL, v.base+"/assets/icon") {
			return
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.asked++
		if !strings.HasPrefix(e.Request.URL, v.base) {
			b.bad = append(b.bad, "request to "+e.Request.URL)
		}
	}); err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.Navigate(b.base+"/docs"), chromedp.WaitVisible(chromedp.CSS("footer")))
	b.useKey(t, v.key)
	return b, v
}

// weighed adds up the bytes that a page receives: code, which is files and the page itself, and
// data.
func (b *tab) weighed(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if b.files == nil {
			b.files = map[network.RequestID]bool{}
		}
		b.files[e.RequestID] = e.Type == network.ResourceTypeDocument || strings.Contains(e.Request.URL, "/assets/")
	case *network.EventLoadingFailed:
		delete(b.files, e.RequestID)
	case *network.EventDataReceived: // bytes received, without headers
		if b.files[e.RequestID] {
			b.code += e.EncodedDataLength
		} else {
			b.data += e.EncodedDataLength
		}
	case *network.EventLoadingFinished:
		delete(b.files, e.RequestID)
	}
}

// weight waits until nothing is being loaded any more, and returns the bytes received.
func (b *tab) weight(t *testing.T) (code, data int64) {
	t.Helper()
	for range 200 {
		b.mu.Lock()
		left := len(b.files)
		code, data = b.code, b.data
		b.mu.Unlock()
		if left == 0 {
			return code, data
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the browser does not report that everything is loaded")
	return code, data
}

// firstView visits a page with an empty cache, and checks it against the limits of a first view.
func (b *tab) firstView(t *testing.T, path string) reading {
	t.Helper()
	if _, err := chromedp.Call(b.ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true}); err != nil {
		t.Fatal(err)
	}
	b.weight(t)
	b.requests()
	b.mu.Lock()
	b.code, b.data = 0, 0
	b.mu.Unlock()
	r := b.visit(t, path)
	code, data := b.weight(t)
	if n := b.requests(); n > 6 {
		t.Errorf("%s: a first view takes %d requests", path, n)
	}
	if code > 45<<10 || data > 60<<10 || code == 0 || data == 0 && path != "/docs/style" {
		t.Errorf("%s: a first view takes %d bytes of code and %d of data", path, code, data)
	}
	t.Logf("%s: %d bytes of code, %d of data", path, code, data)
	if _, err := chromedp.Call(b.ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (b *tab) useKey(t *testing.T, key string) {
	t.Helper()
	give(t, b, chromedp.Evaluate[string](`sessionStorage.setItem("pmx-key", `+fmt.Sprintf("%q", key)+`), ""`))
}

// visit opens a page and waits until it is complete.
func (b *tab) visit(t *testing.T, path string) reading {
	t.Helper()
	b.do(t, chromedp.Navigate(b.base+path), chromedp.WaitVisible(chromedp.CSS("footer")))
	return b.settle(t, path)
}

// settle waits until no section of the page is loading, and reads it.
func (b *tab) settle(t *testing.T, path string) reading {
	t.Helper()
	var r reading
	for range 200 {
		text := give(t, b, chromedp.Evaluate[string](readPage))
		r = reading{}
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatalf("%s: %v in %s", path, err, text)
		}
		if r.Busy == 0 {
			return r
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%s is still loading", path)
	return r
}

// unfold opens everything that is folded on a page, such as the tables of plots, and reads it
// again.
func (b *tab) unfold(t *testing.T, path string) reading {
	t.Helper()
	give(t, b, chromedp.Evaluate[string](`for (const d of document.querySelectorAll("main details")) d.open = true; ""`))
	return b.settle(t, path)
}

// A browser visits every path of a page, except for those whose numbers are texts: the reference
// shows examples, which another test compares with responses for the sample venue.
func TestABrowserVisitsEveryPage(t *testing.T) {
	texts := []string{"/api", "/api/", wire.Base, wire.Base + "/", "/openapi.json", "/docs", "/docs/*", "/assets/*", "/favicon.ico", "/status/"}
	visited := explorerPages(venue{wallet: "w", other: "o", few: "f", market: "m", event: "e", city: "c"})
	visited = append(visited, statusPath)
	for _, pattern := range web.Paths() {
		if !slices.Contains(texts, pattern) && !slices.ContainsFunc(visited, func(at string) bool {
			at, _, _ = strings.Cut(at, "?")
			matches, err := path.Match(pattern, at)
			return err == nil && matches
		}) {
			t.Errorf("no browser visits %s", pattern)
		}
	}
}

// explorerPages returns the pages of the explorer for a venue, in the order of a visit.
func explorerPages(v venue) []string {
	return []string{
		"/", "/market/" + v.market, "/market/" + v.market + "?shape=candles&interval=1h", "/market/" + several, "/market/" + several + "?shape=candles", "/event/" + v.event, "/weather", "/weather?show=volume&metric=tmin", "/weather/" + v.city, "/weather/traders", "/data",
		"/traders", "/traders?category=sports&sort=volume&min_resolved=20&period=30d", "/traders?board=accuracy&min_resolved=50", "/trader/" + v.wallet, "/trader/" + v.few, "/compare?address=" + v.wallet + "&address=" + v.other,
		"/markets?period=30d", "/whales?period=30d", "/screener", "/screener?status=open&min_volume_24h=1", "/docs/style",
	}
}

func TestTheExplorerInARealBrowser(t *testing.T) {
	b, v := openVenue(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *tab, venue)
	}{{"pages", everyPage}, {"status", theStatus}, {"three clicks", threeClicks}, {"keyboard", theKeyboard}, {"few values", theFewValues}, {"ways", theWays}, {"leaderboards without trades", leaderboardsWithoutTrades}, {"limits", limitsOfThePlan},
		{"states", theStates}, {"menu", theMenu}, {"filters", theFilters}, {"order", theOrder}, {"city", theCity}, {"city without its market", theCityWithoutItsMarket}, {"holes", theHoles}, {"names", theNames}, {"outcomes", theOutcomes}, {"paper", thePaper}, {"large numbers", largeNumbers}, {"files", theFiles}, {"key", theKey}} {
		t.Run(part.name, func(t *testing.T) { part.run(t, b, v) })
	}
}

// Every page, with the sample venue, at every width, in light and dark: there are no errors, no
// violations of the policy, no requests to other hosts, nothing is wider than the window, no rule
// of axe is broken, everything can be reached by the keyboard, and every number is the API's.
func everyPage(t *testing.T, b *tab, v venue) {
	axe := readAxe(t)
	seen := map[string]any{}
	for _, path := range explorerPages(v) {
		b.look(t, 1280, "light")
		r := b.firstView(t, path)
		compareNumbers(t, v, path, r, seen)
		folded := b.unfold(t, path)
		compareNumbers(t, v, path+", unfolded", folded, seen)
		for _, failed := range r.Failed {
			t.Errorf("%s: failed = %s", path, failed)
		}
		for _, l := range looks() {
			b.fits(t, path, l)
			if l == (look{1280, "light"}) || l == (look{360, "dark"}) {
				b.axe(t, axe, fmt.Sprintf("%s at %d, %s", path, l.width, l.scheme))
			}
			b.keep(t, fmt.Sprintf("%s-%d-%s", path, l.width, l.scheme))
		}
		b.reached(t, path)
		for _, bad := range b.errors() {
			t.Errorf("%s: bad = %s", path, bad)
		}
		t.Logf("%s: %d numbers, unfolded %d", path, len(r.Numbers), len(folded.Numbers))
	}
}

// readAxe returns the source of axe-core; "" if it is not installed.
func readAxe(t *testing.T) string {
	t.Helper()
	name := os.Getenv("PMX_AXE")
	if name == "" {
		t.Log("axe-core is not installed: pages are not checked by it. make browser fetches it where npm is installed")
		return ""
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// axe runs axe-core in an isolated world, so that the policy of the page stays as it is.
func (b *tab) axe(t *testing.T, source, where string) {
	t.Helper()
	if source == "" {
		return
	}
	const run = `; axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"] })
		.then((r) => JSON.stringify(r.violations.map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " " + n.failureSummary).join(" | "))))`
	tree, err := chromedp.Call(b.ctx, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	world, err := chromedp.Call(b.ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: tree.FrameTree.Frame.ID})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	out, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: source + run, ContextID: world.ExecutionContextID, AwaitPromise: new(true), ReturnByValue: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	var text string
	var broken []string
	if err := json.Unmarshal(out.Result.Value, &text); err != nil {
		t.Fatalf("axe gives %s: %v", out.Result.Value, err)
	}
	if err := json.Unmarshal([]byte(text), &broken); err != nil {
		t.Fatal(err)
	}
	for _, rule := range broken {
		t.Errorf("%s: axe: %s", where, rule)
	}
}
