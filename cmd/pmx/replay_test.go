package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestReplayAnswersUntilItIsStopped checks that the command prints its address, simulates a venue
// that ends now, accepts changes, and at the end prints how often each fault was drawn.
func TestReplayAnswersUntilItIsStopped(t *testing.T) {
	keepUmask(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		c := ReplayCmd{Listen: "127.0.0.1:0", Fills: 2000, Speed: 1, FaultRate: 1, Faults: []string{"none"}}
		err := c.Run(ctx, stdio{out: w})
		_ = w.CloseWithError(io.EOF)
		ended <- err
	}()
	out := bufio.NewReader(r)
	line, err := out.ReadString('\n')
	base := regexp.MustCompile(`http://\S+:\d+`).FindString(line)
	if err != nil || base == "" {
		t.Fatalf("%q: %v", line, err)
	}
	var state struct {
		Clock     time.Time
		Latest    int64 `json:"latest_block"`
		Finalized int64 `json:"finalized_block"`
	}
	res, err := http.Post(base+"/replay?source=rpc/2&faults=503&rate=1&advance=1h", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&state); err != nil || state.Finalized != state.Latest-16 {
		t.Errorf("%+v: %v", state, err)
	}
	if off := time.Until(state.Clock) - time.Hour; off < -time.Minute || off > time.Minute {
		t.Errorf("the clock is %v off", off)
	}
	answers := func(one, two int) {
		t.Helper()
		for path, want := range map[string]int{"/rpc/1": one, "/rpc/2": two} {
			res, err := http.Post(base+path, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`))
			if err != nil || res.StatusCode != want {
				t.Errorf("%s: res = %v, err = %v", path, res, err)
				continue
			}
			res.Body.Close()
		}
	}
	answers(200, 503)
	// Faults set for all nodes replace those of single nodes.
	for _, order := range []struct {
		query    string
		one, two int
	}{{"source=rpc&faults=502&rate=1", 502, 502}, {"source=rpc/1&faults=503&rate=1", 503, 502}, {"source=rpc&faults=none", 200, 200},
		{"source=rpc/1&faults=503&rate=1", 503, 200}, {"faults=none", 200, 200}} {
		res, err := http.Post(base+"/replay?"+order.query, "", nil)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: res = %v, err = %v", order.query, res, err)
		}
		res.Body.Close()
		answers(order.one, order.two)
	}
	for query, want := range map[string]string{
		"":                              "no parameter is given",
		"fault=503":                     `unknown parameter "fault"`,
		"faults=503&faults=502":         "faults is given 2 times",
		"source=rpc":                    "source is given without faults",
		"rate=0.5":                      "rate is given without faults",
		"source=rpc&faults=503&rate=0":  "rate: must be above 0",
		"source=rpx&faults=503":         `unknown source "rpx"`,
		"source=rpc&faults=lost-market": "lost-market is not a fault of rpc, but of gamma",
		"source=ws&faults=503":          "503 is not a fault of ws, but of sources served over HTTP",
		"faults=5o3":                    `no fault is called "5o3"`,
		"advance=an-hour":               "advance: ",
		"faults=503&speed=-1":           "speed: ",
	} {
		res, err := http.Post(base+"/replay?"+query, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), want) {
			t.Errorf("%s: status = %d, body = %s, want %s, err = %v", query, res.StatusCode, body, want, err)
		}
	}
	answers(200, 200)
	stop()
	rest, err := io.ReadAll(out)
	if err != nil || !strings.Contains(string(rest), "rpc/2 503: 1") {
		t.Errorf("%q: %v", rest, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
