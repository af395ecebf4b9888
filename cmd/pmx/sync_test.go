package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/data/upstream/channel"
	"pmx/http/replay"
	"pmx/rollups/follow"
)

// did runs a command, and returns its status and output.
func did(args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = run(args, stdio{out: &o, err: &e})
	return status, o.String(), e.String()
}

// TestSyncOverTheWireIsTheImport: a venue is followed through JSON-RPC from two nodes with every
// fault that does not change the result, until it has caught up; the fills are those of the file of
// logs. A second run adds nothing.
func TestSyncOverTheWireIsTheImport(t *testing.T) {
	testfiles.InLong(t, "TestFaultsOfNodesAreSeenOrMended requests logs from nodes with each fault until they are complete")
	keepUmask(t)
	s, err := replay.New(t.Context(), replay.Options{Config: sample.Config{Fills: 2_000, Days: 8, End: time.Date(2026, 11, 7, 0, 0, 0, 0, time.UTC), Seed: 5},
		Start: time.Date(2026, 11, 7, 0, 10, 0, 0, time.UTC),
		Faults: map[string]replay.Faults{
			"rpc/bad": {Names: []string{"lost-logs", "log-twice", "502"}, Rate: 0.4},
		}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	defer s.Close()
	followed, imported := filepath.Join(t.TempDir(), "f"), filepath.Join(t.TempDir(), "i")
	first := sample.BlockAt(s.Venue().Manifest.Start)
	sync := []string{"sync", "--data-dir", followed, "--rpc", web.URL + "/rpc/good," + web.URL + "/rpc/bad", "--rpc-rate", "1000", "--contact", "me@example.org",
		"--only", "chain", "--from-block", strconv.FormatInt(first, 10), "--once"}
	if status, out, errs := did(sync...); status != 0 || !strings.HasPrefix(out, "2,000 fills of ") {
		t.Fatalf("status = %d, out = %q, errs = %q", status, out, errs)
	}
	if status, out, errs := did(sync...); status != 0 || !strings.HasPrefix(out, "0 fills of ") {
		t.Errorf("once more: %d %q %q", status, out, errs)
	}
	logs := filepath.Join(t.TempDir(), "logs.ndjson")
	f, err := os.Create(logs)
	if err != nil {
		t.Fatal(err)
	}
	if err := replay.WriteLogs(f, s.Venue()); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if status, out, errs := did("import", "--data-dir", imported, logs); status != 0 {
		t.Fatalf("status = %d, out = %q, errs = %q", status, out, errs)
	}
	want, got := exportedFills(t, imported), exportedFills(t, followed)
	if len(want) != 2_001 || !slices.Equal(want, got) {
		t.Errorf("%d lines of fills are followed, %d imported", len(got), len(want))
	}
	status, out, errs := did("sync", "status", "--data-dir", followed, "--json")
	var state followStatus
	if err := json.Unmarshal([]byte(out), &state); err != nil || status != 0 {
		t.Fatalf("err = %v, status = %d, out = %q, errs = %q", err, status, out, errs)
	}
	if c := state.Chain; c == nil || c.Start != first || c.GapBlocks != 0 || c.Fills != 2_000 || c.Phase != "STOPPED" || c.AsOf.IsZero() {
		t.Errorf("out = %s", out)
	}
	if status, out, errs := did("sync", "status", "--data-dir", followed); status != 0 || !strings.Contains(out, "chain   STOPPED") {
		t.Errorf("status = %d, out = %q, errs = %q", status, out, errs)
	}
}

// exportedFills returns the fills of a database as sorted lines.
func exportedFills(t *testing.T, dir string) []string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "fills.csv")
	if status, out, errs := did("export", "--data-dir", dir, "fills", "--out", to); status != 0 {
		t.Fatalf("status = %d, out = %q, errs = %q", status, out, errs)
	}
	text, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	slices.Sort(lines)
	return lines
}

// TestSyncSaysWhatItNeeds before it sends any request.
func TestSyncSaysWhatItNeeds(t *testing.T) {
	keepUmask(t)
	dir := filepath.Join(t.TempDir(), "d")
	for _, tc := range []struct {
		want string
		args []string
	}{
		{"--contact is missing", []string{"sync", "--rpc", "http://127.0.0.1:1"}},
		{"--rpc is missing", []string{"sync", "--contact", "me", "--only", "chain"}},
		{"--only trades is the venue's list of trades, which replaces the chain: with --rpc, name chain instead",
			[]string{"sync", "--contact", "me", "--rpc", "http://127.0.0.1:1/hushhush", "--only", "markets,trades"}},
		{"--only trades needs markets", []string{"sync", "--contact", "me", "--only", "trades,weather"}},
		{"--sync-only trades is the venue's list of trades, which replaces the chain: with --sync-rpc", []string{"serve", "--listen", "127.0.0.1:0",
			"--sync", "polymarket", "--sync-contact", "me", "--sync-rpc", "http://127.0.0.1:1/hushhush", "--sync-only", "markets,trades"}},
		{"--rpc-rate", []string{"sync", "--contact", "me", "--rpc", "http://127.0.0.1:1", "--rpc-rate", "0"}},
		{"--look-every", []string{"sync", "--contact", "me", "--rpc", "http://127.0.0.1:1", "--look-every", "5ms"}},
		{"--from-block", []string{"sync", "--contact", "me", "--rpc", "http://127.0.0.1:1", "--from-block=-1"}},
		{"--sync-contact is missing", []string{"serve", "--sync", "polymarket", "--listen", "127.0.0.1:0"}},
		{"has no database yet", []string{"sync", "status"}},
		{"--contact: it must be one line of plain text", []string{"sync", "--contact", "me\nX-Key: 1", "--rpc", "http://127.0.0.1:1"}},
		{"--rpc: its URL has an invalid port", []string{"sync", "--contact", "me", "--rpc", "https://host:99999/hushhush"}},
		{"--rpc: its URL must be http:// or https://", []string{"sync", "--contact", "me", "--rpc", "ftp://host/hushhush"}},
		{"--rpc, number 2 of its URLs: its URL cannot be read", []string{"sync", "--contact", "me", "--rpc", "http://127.0.0.1:1,http://u:hushhush@host:x"}},
		{"--rpc, URL number 2 repeats number 1", []string{"sync", "--contact", "me", "--rpc", "http://127.0.0.1:1/hushhush,http://127.0.0.1:1/hushhush"}},
		{"also give --sync polymarket", []string{"serve", "--listen", "127.0.0.1:0", "--sync-contact", "me", "--sync-rpc", "http://127.0.0.1:1/hushhush"}},
		{"--sync-gamma: its URL must be", []string{"serve", "--listen", "127.0.0.1:0", "--sync", "polymarket", "--sync-contact", "me", "--sync-gamma", "gamma"}},
		{"--channel: the address of a channel must be ws:// or wss://", []string{"sync", "--contact", "me", "--channel", "http://127.0.0.1:1/hushhush"}},
		{"--nws: its URL must be", []string{"sync", "--contact", "me", "--nws", ""}},
	} {
		status, out, errs := did(append(tc.args, "--data-dir", dir)...)
		exit := 2
		if tc.args[1] == "status" { // what is missing may come
			exit = 1
		}
		if status != exit || out != "" || !strings.Contains(errs, tc.want) || strings.Contains(errs, "hushhush") {
			t.Errorf("%v: status = %d, out = %q, errs = %q", tc.args, status, out, errs)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a data directory was made")
	}
}

// What a terminal shows about the chain, from before the first response to the tail.
func TestWhatATerminalShowsOfTheChain(t *testing.T) {
	now := time.Date(2026, 11, 7, 0, 10, 0, 0, time.UTC)
	for _, tc := range []struct {
		state follow.ChainStatus
		share float64
		want  string
	}{
		{follow.ChainStatus{Phase: follow.BackOff}, -1, "no node answers yet "},
		{follow.ChainStatus{Phase: follow.Idle}, -1, "requesting the newest block "},
		{follow.ChainStatus{Phase: follow.Fetch, Finalized: 9_000, GapBlocks: 8_000, CatchingUp: true}, 0, "catching up: 8,000 blocks to go"},
		{follow.ChainStatus{Phase: follow.Fetch, Finalized: 9_000, GapBlocks: 4_000, CatchingUp: true, Progress: 0.5, FillsASec: 1234.5, Remaining: 700, Answered: 1_500}, 0.5,
			"catching up: 4,000 blocks to go (1,500 answered), 1,234 fills/s, about 12 min left"},
		{follow.ChainStatus{Phase: follow.Idle, Finalized: 9_000, Committed: 9_000, AsOf: now.Add(-12 * time.Second), Fills: 1_000}, -1,
			"following: block 9,000, 12s ago, 1,000 new fills"},
		{follow.ChainStatus{Phase: follow.Stalled, Finalized: 9_000, Committed: 9_000}, -1, "no node answers: block 9,000, 0 new fills"},
		{follow.ChainStatus{Phase: follow.Idle, Finalized: 9_000, Committed: 8_000, Held: make([]follow.HeldRange, 2)}, -1,
			"following, 2 ranges held back: block 8,000, 0 new fills"},
	} {
		label, share, note := followed(tc.state, now)
		if got := label + " " + note; got != tc.want || share != tc.share {
			t.Errorf("%q at %g, want %q at %g", got, share, tc.want, tc.share)
		}
	}
}

// TestSyncThatCannotSucceedEnds with what is wrong, and not with success.
func TestSyncThatCannotSucceedEnds(t *testing.T) {
	keepUmask(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":"0x1"}`))
	}))
	defer web.Close()
	status, out, errs := did("sync", "--data-dir", filepath.Join(t.TempDir(), "d"), "--rpc", web.URL+"/hushhush", "--contact", "me", "--only", "chain", "--once")
	if status != 1 || out != "" || !strings.Contains(errs, "no node serves the chain that is followed: rpc 1: chain id: the provider has chain 1, not 137") ||
		!strings.Contains(errs, `"message":"following the venue"`) || !strings.Contains(errs, "rpc 1 "+web.URL+`"`) || strings.Contains(errs, "hushhush") {
		t.Errorf("status = %d, out = %q, errs = %q", status, out, errs)
	}
}

// The table claims nothing that is not known, and shows no zero times.
func TestTheTableOfSources(t *testing.T) {
	at := time.Date(2026, 11, 7, 1, 2, 3, 0, time.UTC)
	for name, tc := range map[string]struct {
		state followStatus
		want  []string
	}{
		"nothing yet": {followStatus{Chain: &follow.ChainStatus{Phase: follow.BackOff, Error: "rpc 1: x", Nodes: []follow.NodeStatus{{Name: "rpc 1", State: follow.BackOff, LastError: "x"}}}},
			[]string{"chain    BACKOFF  nothing yet   unknown  unknown  0 fills    0    rpc 1: x", "  rpc 1  BACKOFF  no block yet                    0 answers  0    x"}},
		"in the tail": {followStatus{Chain: &follow.ChainStatus{Phase: follow.Idle, Start: 5, Committed: 9, AsOf: at, GapBlocks: 1}}, []string{"block 9, 2026-11-07T01:02:03Z  0s   1 block  0 fills"}},
		"a node that answers again": {followStatus{Chain: &follow.ChainStatus{Phase: follow.Idle, Nodes: []follow.NodeStatus{{Name: "rpc 1", State: follow.Idle, Finalized: 9, LastError: "gone"}}}},
			[]string{"  rpc 1  IDLE   block 9", "0 answers  0    \n"}},
		"no node any more": {followStatus{Chain: &follow.ChainStatus{Phase: follow.Stalled, Start: 5, Committed: 9, AsOf: at, GapBlocks: 1, LagSeconds: 90}},
			[]string{"1m30s  1 block or more"}},
		"not followed now": {followStatus{Chain: &follow.ChainStatus{Phase: follow.Stopped, Start: 5}, Markets: &follow.MarketsStatus{Tasks: []follow.MarketTask{{Name: "all",
			Phase: follow.Stopped, LastGood: at}}}, Quotes: &follow.QuotesStatus{Phase: follow.Stopped, AsOf: at}},
			[]string{"chain         STOPPED  nothing yet from block 5 on  unknown  unknown", "markets: all  STOPPED  2026-11-07T01:02:03Z", "quotes        STOPPED  2026-11-07T01:02:03Z"}},
		"weather": {followStatus{Weather: []follow.WeatherStatus{{Source: "metar", Phase: follow.Fetch}, {Source: "nws", Phase: follow.Stopped}}},
			[]string{"weather: metar  FETCH    nothing yet  0s" + strings.Repeat(" ", 12) + "0 values  0", "weather: nws    STOPPED  nothing yet  0s" + strings.Repeat(" ", 22) + "0 "}},
	} {
		var out bytes.Buffer
		if err := printFollow(&out, tc.state); err != nil {
			t.Fatal(err)
		}
		for _, want := range tc.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, out.String())
			}
		}
	}
	text, err := json.Marshal(followStatus{Chain: &follow.ChainStatus{Nodes: []follow.NodeStatus{{}}}, Markets: &follow.MarketsStatus{Tasks: []follow.MarketTask{{}}},
		Quotes: &follow.QuotesStatus{Channels: []channel.Stats{{Name: "quotes 1"}}}, Weather: []follow.WeatherStatus{{}}})
	if err != nil || bytes.Contains(text, []byte("0001-01-01")) || !bytes.Contains(text, []byte(`{"name":"quotes 1","state":""`)) {
		t.Errorf("err = %v, text = %s", err, text)
	}
}

// TestOnlyNamesTheListOfTrades: --only may name the list of trades, together with markets and
// without the chain, even if --at gives an address for the chain.
func TestOnlyNamesTheListOfTrades(t *testing.T) {
	for only, want := range map[string]bool{"markets,trades": true, "markets": false, "": false} {
		f := followFlags{At: "http://127.0.0.1:1", Contact: "me"}
		if only != "" {
			f.Only = strings.Split(only, ",")
		}
		if err := f.redirect(); err != nil {
			t.Errorf("%q: %v", only, err)
		}
		if got := len(f.RPC) == 0 && f.followed(tradesLane); got != want {
			t.Errorf("%q: the list of trades is followed: %v, want %v", only, got, want)
		}
		if got := len(f.RPC) > 0 && f.followed(chainLane); got != (only == "") {
			t.Errorf("%q: the chain is followed: %v", only, got)
		}
	}
}
