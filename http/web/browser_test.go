package web_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/rs/zerolog"

	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/server"
)

// tab is a page in a real browser that records errors.
type tab struct {
	ctx  context.Context
	base string
	mu   sync.Mutex
	bad  []string

	asked      int                        // requests since the last call of requests
	files      map[network.RequestID]bool // whether the requested file is code
	code, data int64                      // bytes of a page
}

// openTab starts Chromium and a server with synthetic data; key is a trader's. It skips the test if
// there is no Chromium, or if browser tests were not requested.
func openTab(t *testing.T) (b *tab, key string) {
	t.Helper()
	if os.Getenv("PMX_BROWSER") == "" {
		t.Skip("a browser is only started by make browser")
	}
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium is installed: the Debian package is called chromium")
	}
	base, key := serveVenue(t)
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.NoSandbox)
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b = &tab{ctx: ctx, base: base}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	return b, key
}

// hear records errors of scripts, of the console and of loading.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.bad = append(b.bad, fmt.Sprintf("exception: %+v", e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			for _, arg := range e.Args {
				b.bad = append(b.bad, fmt.Sprintf("console: %s %s", arg.Value, arg.Description))
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" {
			b.bad = append(b.bad, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	}
}

// errors returns the errors since its last call.
func (b *tab) errors() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	bad := b.bad
	b.bad = nil
	return bad
}

// requests returns the number of requests since its last call.
func (b *tab) requests() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.asked
	b.asked = 0
	return n
}

// do runs steps without results.
func (b *tab) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// give runs an action and returns its result.
func give[T any](t *testing.T, b *tab, action chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// look sets the width of the window and the colour scheme.
func (b *tab) look(t *testing.T, width int64, scheme string) {
	t.Helper()
	var options []chromedp.EmulateViewportOption
	if width < 500 {
		options = append(options, chromedp.EmulateMobile)
	}
	b.do(t, chromedp.EmulateViewport(width, 800, options...))
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}); err != nil {
		t.Fatal(err)
	}
}

// keep writes a screenshot of the whole page if PMX_SHOTS names a folder.
func (b *tab) keep(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("PMX_SHOTS")
	if dir == "" {
		return
	}
	picture := give(t, b, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(strings.Trim(name, "/"), "/", "-")+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

// serveVenue runs a server with synthetic data.
func serveVenue(t *testing.T) (base, key string) {
	t.Helper()
	store := &apitest.Store{}
	key = store.Issue(access.Trader, 1)
	gate, err := access.NewGate(t.Context(), store, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.New(api.Config{
		Source: apitest.NewSource(apitest.Snapshot(1, 10, 60)), Gate: gate, Version: "v1", CursorKey: make([]byte, 32), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{API: a, Listen: "127.0.0.1:0", Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s.URL(), key
}

// Every page of the reference, and the status page, at every width and in every colour scheme:
// there are no errors, nothing is wider than the window, the requested colours are used, no rule of
// axe is broken, everything can be reached by the keyboard, and the page is short enough to read.
func TestPagesInARealBrowser(t *testing.T) {
	b, key := openTab(t)
	axe := readAxe(t)
	paths := docsPages(t)
	slices.Sort(paths)
	back := map[string]string{"dark": "rgb(20, 23, 26)", "light": "rgb(255, 255, 255)"}
	b.do(t, chromedp.Navigate(b.base+"/docs"), chromedp.WaitVisible(chromedp.CSS("footer")))
	b.useKey(t, key)
	for _, path := range paths {
		b.look(t, 1280, "light")
		b.do(t, chromedp.Navigate(b.base+path), chromedp.WaitVisible(chromedp.CSS("footer")))
		b.settle(t, path)
		for _, l := range looks() {
			b.fits(t, path, l)
			if got := give(t, b, chromedp.Evaluate[string](`getComputedStyle(document.body).backgroundColor`)); got != back[l.scheme] {
				t.Errorf("%s in %s has the background %s", path, l.scheme, got)
			}
			if high := give(t, b, chromedp.Evaluate[int64](`document.documentElement.scrollHeight`)); l.width == 1280 && high > longest {
				t.Errorf("%s is %d px long, at most %d are allowed", path, high, longest)
			}
			if operation := strings.Count(path, "/") == 3; l == (look{1280, "light"}) || l == (look{360, "dark"}) && !operation {
				b.axe(t, axe, fmt.Sprintf("%s at %d, %s", path, l.width, l.scheme))
			}
			b.keep(t, fmt.Sprintf("%s-%d-%s", path, l.width, l.scheme))
		}
		if strings.Count(path, "/") < 3 { // pages of operations are all alike
			b.reached(t, path)
		}
		for _, bad := range b.errors() {
			t.Errorf("%s: bad = %s", path, bad)
		}
	}
}

// Without a key a request shows 401, with one 200. Samples name the real host, but not the key.
func TestTryingARequestInARealBrowser(t *testing.T) {
	b, key := openTab(t)
	const form = "form.try"
	at := func(selector string) chromedp.CSS { return chromedp.CSS(form + selector) }
	send := func(want string) string {
		t.Helper()
		b.do(t, chromedp.Click(at(" button")), chromedp.WaitVisible(at(` output[data-status="`+want+`"]`)))
		return give(t, b, chromedp.Text(at(" output")))
	}
	b.look(t, 1280, "light")
	b.do(t, chromedp.Navigate(b.base+"/docs/leaderboard/getLeaderboardTraders"), chromedp.WaitVisible(at("")))
	if shown := send("401"); !strings.Contains(shown, "missing_api_key") {
		t.Errorf("without a key: %s", shown)
	}
	b.errors() // the browser reports a 401 as a loading error
	b.useKey(t, key)
	b.do(t, chromedp.SendKeys(at(` input[name="limit"]`), "1"),
		chromedp.SetValue(at(` select[name="period"]`), "30d"))
	shown := send("200")
	for _, want := range []string{
		"GET /api/v3/leaderboard/traders?period=30d&limit=1", "200 in ", "requests left this minute", `"rank": 1,`, `"real_pnl": 60.00006,`,
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("with a key: %q is missing in %s", want, shown)
		}
	}
	b.keep(t, "tried")
	sample := give(t, b, chromedp.Evaluate[string](`document.querySelector('.sample[data-name="curl"] code').textContent`))
	if !strings.Contains(sample, "'"+b.base+"/api/v3/leaderboard/traders") || strings.Contains(sample, key) {
		t.Errorf("the sample is %s", sample)
	}
	// The values in the form appear in the samples of every language at once.
	for _, name := range []string{"curl", "Python", "Go", "TypeScript"} {
		sample := give(t, b, chromedp.Evaluate[string](`document.querySelector('.sample[data-name="`+name+`"] code').textContent`))
		if !strings.Contains(sample, b.base+"/api/v3/leaderboard/traders?period=30d&limit=1") {
			t.Errorf("the sample in %s is %s", name, sample)
		}
	}
	for _, bad := range b.errors() {
		t.Error(bad)
	}
}
