//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A receipt that omits a row or a line is found.
func TestReceiptsThatDoNotAddUpAreFound(t *testing.T) {
	good := receipt{Feed: "polydata-order-filled", Read: 10, Inserted: 6, AlreadyThere: 1, Waiting: 1, Rejected: map[string]int64{"no price": 2}}
	good.Lines.Total, good.Lines.Records, good.Lines.Header = 11, 10, 1
	if err := good.accounted(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*receipt){
		"a row":          func(r *receipt) { r.Inserted-- },
		"a row too many": func(r *receipt) { r.Identical++ },
		"a line":         func(r *receipt) { r.Lines.Header = 0 },
		"the feed":       func(r *receipt) { r.Feed = "none" },
	} {
		bad := good
		change(&bad)
		if bad.accounted() == nil {
			t.Errorf("%s was not noticed", name)
		}
	}
}

// A command may end with a receipt, or be refused with a reason. Anything else is a failure.
func TestOtherEndsOfAnImportAreFailures(t *testing.T) {
	v := &venue{harness: &harness{tally: newTally()}}
	for _, c := range []struct {
		out string
		err error
	}{
		{"", errors.New("killed")},
		{`{"receipts":[],"failed":[]}`, nil},
		{`{"receipts":[{"feed":"polydata-order-filled","read":2,"inserted":1}],"failed":[]}`, nil},
		{"no JSON", nil},
	} {
		if v.judge([]byte(c.out), c.err) == nil {
			t.Errorf("%q, %v was accepted", c.out, c.err)
		}
	}
	if err := v.judge([]byte(`{"receipts":[{"feed":"polydata-order-filled","read":2,"inserted":2}],"failed":[]}`), nil); err != nil {
		t.Error(err)
	}
}

// Every way to damage a file works on the shortest of files, and changes longer ones.
func TestFilesAreDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	long := []byte(strings.Repeat("a,1,2.5\nb,33,\"x\"\n", 40))
	for _, how := range changes {
		changed := false
		for range 50 {
			how.change([]byte{'7'}, r)
			changed = changed || !bytes.Equal(how.change(bytes.Clone(long), r), long)
		}
		if !changed {
			t.Errorf("%s changes nothing", how.name)
		}
	}
}

// Rows of one second are in one slice: equal rows in two files would count once.
func TestSlicesDoNotPartASecond(t *testing.T) {
	lines := bytes.SplitAfter([]byte("1,a\n1,b\n2,c\n2,c\n2,d\n3,e"), []byte("\n"))
	for each, want := range map[int]int{1: 2, 2: 2, 3: 5, 5: 5, 6: 6, 9: 6} {
		if n := cut(lines, each); n != want {
			t.Errorf("at least %d lines: got %d, want %d", each, n, want)
		}
	}
}

// A check that fails makes the run fail, and its folder is kept.
func TestAFailedCheckFailsTheRun(t *testing.T) {
	for _, failed := range []bool{false, true} {
		h := &harness{dir: filepath.Join(t.TempDir(), "s"), tally: newTally()}
		if err := os.Mkdir(h.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if failed {
			h.fail("a check")
		}
		if err := h.finish(nil); (err != nil) != failed || exists(h.dir) != failed {
			t.Errorf("failed %v: %v, the folder is there: %v", failed, err, exists(h.dir))
		}
	}
}

// Go's time.Now is the one that is replaced: another version of Go may have a different one.
func TestTheClockOfGoCanBeReplaced(t *testing.T) {
	path, err := overlayTime(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	var overlay struct{ Replace map[string]string }
	if err != nil || json.Unmarshal(text, &overlay) != nil || len(overlay.Replace) != 2 {
		t.Fatalf("text = %s, err = %v", text, err)
	}
	for was, is := range overlay.Replace {
		if text, err := os.ReadFile(is); err != nil || !bytes.Contains(text, []byte("wallShift()")) || exists(was) != (filepath.Base(was) == "time.go") {
			t.Errorf("%s for %s, %v", is, was, err)
		}
	}
	if _, err := shiftNow("func Now() Time { return now() }"); err == nil {
		t.Error("a time.Now of another form is replaced")
	}
}

func TestAClockIsSetToShortlyBeforeTheEndOfAMinute(t *testing.T) {
	c := &wallClock{path: filepath.Join(t.TempDir(), "ahead")}
	for _, d := range []time.Duration{0, 3 * time.Hour, -45 * 24 * time.Hour} {
		began := time.Now()
		if err := c.jump(d); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(c.path)
		if err != nil || len(text) != 8 || int64(binary.NativeEndian.Uint64(text)) != c.ahead {
			t.Errorf("%x is written, %v", text, err)
		}
		set := c.now().Unix() - int64(time.Since(began)/time.Second)
		if off := time.Duration(c.ahead)*time.Second - d; off < -time.Minute || off > time.Minute || set%60 < 48 || set%60 > 51 {
			t.Errorf("%s: the clock is %ds ahead, at second %d", d, c.ahead, set%60)
		}
	}
}

// A figure that cannot be read before a jump is an error: any later value would be larger.
func TestAFigureThatCannotBeParsedIsMissing(t *testing.T) {
	var bad atomic.Bool
	var rows atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := rows.Add(1)
		switch {
		case bad.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "{}")
		case r.URL.Path == "/metrics":
			_, _ = fmt.Fprintf(w, "pmx_work_total{result=\"ok\",work=\"refresh\"} %d\n", n)
		default:
			_, _ = fmt.Fprintf(w, `{"data":{"sources":[{"name":"chain","as_of":"2026-01-01T00:00:%02dZ"}]}}`, n)
		}
	}))
	defer site.Close()
	addr := site.Listener.Addr().String()
	s := &server{addr: addr, admin: &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}}}
	c := &clocked{venue: &venue{backups: t.TempDir()}, server: s, follower: s}
	if done, err := grows(t.Context(), c.newestBackup); err != nil || done() {
		t.Errorf("before the first backup: %v", err)
	}
	if err := os.Mkdir(filepath.Join(c.backups, "CURRENT"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := grows(t.Context(), c.newestBackup); err == nil {
		t.Error("a number that cannot be parsed counts as missing")
	}
	refresh, noRefresh := grows(t.Context(), c.refreshes)
	follows, noFollower := grows(t.Context(), c.followed)
	if noRefresh != nil || noFollower != nil || !refresh() || !follows() {
		t.Errorf("figures that grow are reported as not growing: %v, %v", noRefresh, noFollower)
	}
	bad.Store(true)
	_, noRefresh = grows(t.Context(), c.refreshes)
	_, noFollower = grows(t.Context(), c.followed)
	if noRefresh == nil || noFollower == nil || refresh() || follows() {
		t.Errorf("a response with an error counts as a figure: %v, %v", noRefresh, noFollower)
	}
}

func TestEveryKeyOfAnObjectIsUsed(t *testing.T) {
	for _, last := range []int64{31, 61, 1000} {
		var n atomic.Int64
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if n.Add(1) == last {
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}))
		c := &clocked{server: &server{addr: site.Listener.Addr().String()}}
		if err := c.useUp(t.Context()); (err == nil) != (last < 100) || err == nil && n.Load() != last {
			t.Errorf("at its limit with request %d: %v after %d", last, err, n.Load())
		}
		site.Close()
	}
}
