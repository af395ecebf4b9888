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

// TestReplayAnswersUntilItIsStopped: the command says where it answers, plays the venue of
// now, takes orders, and ends with how often each fault was made.
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
	for path, want := range map[string]int{"/rpc/1": 200, "/rpc/2": 503} {
		res, err := http.Post(base+path, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`))
		if err != nil || res.StatusCode != want {
			t.Errorf("%s: %v %v", path, res, err)
			continue
		}
		res.Body.Close()
	}
	stop()
	rest, err := io.ReadAll(out)
	if err != nil || !strings.Contains(string(rest), "rpc/2 503: 1") {
		t.Errorf("%q: %v", rest, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
