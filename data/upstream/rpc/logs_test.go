package rpc_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data/upstream/fetch"
	"pmx/data/upstream/rpc"
)

// The calls of a range that ends at block 500, which is 0x1f4.
const (
	askLogs  = `eth_getLogs[{"address":["` + addressText + `"],"fromBlock":"0x190","toBlock":"0x1f4","topics":[["` + topicText + `"]]}]`
	askEnd   = `eth_getBlockByNumber["0x1f4",false]`
	askFinal = `eth_getBlockByNumber["finalized",false]`
	askNew   = `eth_getBlockByNumber["latest",false]`
)

func someLogs(blocks ...int64) string {
	var all []string
	for i, b := range blocks {
		all = append(all, logOf(b, i))
	}
	return list(all)
}

func TestRangeIsAskedForInOneBatch(t *testing.T) {
	n := &node{logs: " [" + logOf(400, 3) + " ,\n" + logOf(500, 4) + "] "}
	c, _ := client(t, n)
	for range 2 {
		r, err := c.Logs(t.Context(), 400, 500, address(t), topics(t))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := r.EachLog(func(log []byte) error {
			got = append(got, string(log))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{logOf(400, 3), logOf(500, 4)}, got); diff != "" {
			t.Error(diff)
		}
		if r.Count() != 2 || r.Bytes() < 600 || !r.Together || r.From != 400 || r.To != 500 || r.Latest != 0 {
			t.Errorf("%+v", r)
		}
		if r.End.Number != 500 || r.End.Hash.String() != hashOf(500) || r.End.Parent.String() != hashOf(499) || r.End.Time != 1_700_001_000 || r.Finalized.Number != 1000 {
			t.Errorf("%+v", r)
		}
	}
	if diff := cmp.Diff([][]string{{askLogs, askEnd, askFinal}, {askLogs, askEnd, askFinal}}, n.asked); diff != "" {
		t.Error(diff)
	}
	want := errors.New("stop")
	r, err := c.Logs(t.Context(), 400, 500, nil, nil)
	if err != nil || n.asked[2][0] != `eth_getLogs[{"fromBlock":"0x190","toBlock":"0x1f4"}]` {
		t.Error(n.asked[2][0], err)
	}
	if err := r.EachLog(func([]byte) error { return want }); !errors.Is(err, want) {
		t.Error(err)
	}
	for _, bad := range [][2]int64{{-1, 5}, {5, 4}} {
		if _, err := c.Logs(t.Context(), bad[0], bad[1], nil, nil); err == nil {
			t.Errorf("%v was requested", bad)
		}
	}
}

// TestReleasedLogsAreGone, and the next ones are read completely, whether into the same memory or
// not.
func TestReleasedLogsAreGone(t *testing.T) {
	n := &node{}
	c, _ := client(t, n)
	for round, blocks := range [][]int64{{400, 401, 402}, {403}, {}, {404, 405, 406, 407, 408, 409}} {
		n.logs = someLogs(blocks...)
		var kept []*rpc.Range
		for range 2 { // at once
			r, err := c.Logs(t.Context(), 400, 500, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, r)
		}
		for _, r := range kept {
			var got []string
			if err := r.EachLog(func(log []byte) error { got = append(got, string(log)); return nil }); err != nil {
				t.Fatal(err)
			}
			if list(got) != n.logs {
				t.Errorf("round %d: %s, not %s", round, list(got), n.logs)
			}
			bytes := r.Bytes()
			r.Release()
			r.Release()
			if err := r.EachLog(func(log []byte) error { t.Errorf("%s is still there after the release", log); return nil }); err != nil {
				t.Error(err)
			}
			if r.Count() != int64(len(blocks)) || r.Bytes() != bytes {
				t.Errorf("%d logs of %d bytes", r.Count(), r.Bytes())
			}
		}
	}
}

// TestAnswersAreFoundByTheirIDs in any order and with anything else in the response.
func TestAnswersAreFoundByTheirIDs(t *testing.T) {
	ids := func(n int64) string { return fmt.Sprintf(`"id":%d,`, n) }
	for name, c := range map[string]struct {
		change    func(request int, q []question, a []string) (int, string)
		requests  [][]string // after the first
		stats     rpc.Stats
		separated bool
	}{
		"in another order": {change: func(_ int, _ []question, a []string) (int, string) {
			slices.Reverse(a)
			return 200, list(a)
		}},
		"ids as text": {change: func(_ int, q []question, a []string) (int, string) {
			for i := range a {
				a[i] = strings.Replace(a[i], ids(q[i].ID), fmt.Sprintf(`"id":"%d",`, q[i].ID), 1)
			}
			return 200, list(a)
		}},
		"answers twice": {change: func(_ int, _ []question, a []string) (int, string) { return 200, list(append(a, a...)) },
			stats: rpc.Stats{Repeated: 3}},
		"foreign ids": {change: func(_ int, q []question, a []string) (int, string) {
			other := strings.Replace(a[0], ids(q[0].ID), ids(q[0].ID-1), 1)
			return 200, list(append(a, other, strings.Replace(a[0], ids(q[0].ID), ids(1<<40), 1), strings.Replace(a[0], ids(q[0].ID), `"id":null,`, 1), strings.Replace(a[0], ids(q[0].ID), `"id":-1,`, 1), `{}`))
		}, stats: rpc.Stats{Foreign: 5}},
		"only the logs": {change: func(n int, _ []question, a []string) (int, string) {
			if n == 1 {
				return 200, list(a[:1])
			}
			return 0, ""
		}, requests: [][]string{{askEnd, askFinal}}, stats: rpc.Stats{AskedAgain: 2}, separated: true},
		"no logs, twice": {change: func(n int, _ []question, a []string) (int, string) {
			if n == 1 {
				return 200, list(a[1:])
			}
			if n == 2 {
				return 200, `[]`
			}
			return 0, ""
		}, requests: [][]string{{askLogs}, {askLogs}}, stats: rpc.Stats{AskedAgain: 2}, separated: true},
		"null for logs": {change: func(n int, q []question, a []string) (int, string) {
			if n == 1 {
				a[0] = fmt.Sprintf(`{"id":%d,"result":null}`, q[0].ID)
				return 200, list(a)
			}
			return 0, ""
		}, requests: [][]string{{askLogs}}, stats: rpc.Stats{AskedAgain: 1}, separated: true},
		"neither result nor error": {change: func(n int, q []question, a []string) (int, string) {
			if n == 1 {
				a[1] = fmt.Sprintf(`{"id":%d,"error":null}`, q[1].ID)
				return 200, list(a)
			}
			return 0, ""
		}, requests: [][]string{{askEnd}}, stats: rpc.Stats{AskedAgain: 1}, separated: true},
		"an error that passes": {change: func(n int, q []question, a []string) (int, string) {
			if n == 1 {
				a[0] = failure(q[0], -32603, "internal error")
				return 200, list(a)
			}
			return 0, ""
		}, requests: [][]string{{askLogs}}, stats: rpc.Stats{AskedAgain: 0, Faults: 1}, separated: true},
		"an error of all that passes": {change: func(n int, q []question, _ []string) (int, string) {
			if n == 1 {
				return 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"upstream timeout"}}`
			}
			return 0, ""
		}, requests: [][]string{{askLogs, askEnd, askFinal}}, stats: rpc.Stats{Faults: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			n := &node{logs: someLogs(400, 500), change: c.change}
			cl, _ := client(t, n)
			r, err := cl.Logs(t.Context(), 400, 500, address(t), topics(t))
			if err != nil || r.Count() != 2 || r.Together == c.separated {
				t.Fatalf("%+v %v", r, err)
			}
			if diff := cmp.Diff(append([][]string{{askLogs, askEnd, askFinal}}, c.requests...), n.asked); diff != "" {
				t.Error(diff)
			}
			c.stats.Batch, c.stats.Finalized = 100, true
			if diff := cmp.Diff(c.stats, cl.Stats()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestIncompleteAnswersAreRefused, each with its reason.
func TestIncompleteAnswersAreRefused(t *testing.T) {
	replace := func(i int, old, new string) func(int, []question, []string) (int, string) {
		return func(_ int, _ []question, a []string) (int, string) {
			if i < len(a) {
				a[i] = strings.Replace(a[i], old, new, 1)
			}
			return 200, list(a)
		}
	}
	for name, c := range map[string]struct {
		logs   string
		change func(request int, q []question, a []string) (int, string)
		final  int64
		want   rpc.Reason
		block  int64
	}{
		"final before its end": {logs: "[]", final: 499, want: rpc.NotFinal, block: 499},
		"another final block":  {logs: "[]", final: 500, change: replace(2, hashOf(500), hashOf(77)), want: rpc.OtherEnd, block: 500},
		"no end":               {logs: "[]", change: replace(1, headerOf(500), "null"), want: rpc.Behind, block: 500},
		"an end that is not known": {logs: "[]", change: func(_ int, q []question, a []string) (int, string) {
			return 200, list([]string{a[0], failure(q[1], -32000, "header not found"), a[2]})
		}, want: rpc.Behind, block: 500},
		"another end":           {logs: "[]", change: replace(1, `"0x1f4"`, `"0x1f3"`), want: rpc.OtherBlock, block: 499},
		"an end without a hash": {logs: "[]", change: replace(1, hashOf(500), ""), want: rpc.NoBlock, block: 500},
		"an end without a time": {logs: "[]", change: replace(1, `"timestamp"`, `"time"`), want: rpc.NoBlock, block: 500},
		"an end that is a text": {logs: "[]", change: replace(1, headerOf(500), `"x"`), want: rpc.NoBlock, block: 500},
		"logs beyond the head": {logs: "[]", change: func(_ int, q []question, a []string) (int, string) {
			return 200, list([]string{failure(q[0], -32602, "block range extends beyond current head block"), a[1], a[2]})
		}, want: rpc.Behind, block: 500},
		"a log that was removed":    {logs: strings.Replace(someLogs(400, 450), `"removed":false`, `"removed":true`, 1), want: rpc.Removed, block: 400},
		"a log before":              {logs: someLogs(399), want: rpc.Outside, block: 399},
		"a log after":               {logs: someLogs(400, 501), want: rpc.Outside, block: 501},
		"a log of another end":      {logs: strings.Replace(someLogs(500), hashOf(500), hashOf(5), 1), want: rpc.OtherEnd, block: 500},
		"a log of the end, no hash": {logs: strings.Replace(someLogs(500), `"blockHash"`, `"hash"`, 1), want: rpc.OtherEnd, block: 500},
		"two hashes of a block":     {logs: strings.Replace(someLogs(450, 450), hashOf(450), hashOf(5), 1), want: rpc.TwoBlocks, block: 450},
		"a log without a block":     {logs: strings.Replace(someLogs(450), `"blockNumber"`, `"number"`, 1), want: rpc.NoPlace, block: 400},
		"a log of a pending block":  {logs: strings.Replace(someLogs(450), `"0x1c2"`, `null`, 1), want: rpc.NoPlace, block: 400},
		"a log that is a text":      {logs: `["x"]`, want: rpc.NoLogs, block: 400},
		"a log that is null":        {logs: `[null]`, want: rpc.NoLogs, block: 400},
		"a log of two blocks":       {logs: strings.Replace(someLogs(450), `"removed"`, `"blockNumber":"0x1c3","removed"`, 1), want: rpc.NoLogs, block: 400},
		"logs that are an object":   {logs: `{"logs":[]}`, want: rpc.NoLogs, block: 400},
		"logs never":                {logs: "null", want: rpc.NotAnswered},
		"two answers": {logs: "[]", change: func(_ int, _ []question, a []string) (int, string) {
			return 200, list(append(a, strings.Replace(a[0], "[]", someLogs(450), 1)))
		}, want: rpc.Differ},
		"an answer and an error too": {logs: "[]", change: func(_ int, q []question, a []string) (int, string) {
			return 200, list(append(a, failure(q[0], -32603, "internal error")))
		}, want: rpc.Differ},
	} {
		t.Run(name, func(t *testing.T) {
			n := &node{logs: c.logs, change: c.change, final: c.final}
			cl, _ := client(t, n)
			r, err := cl.Logs(t.Context(), 400, 500, nil, nil)
			var bad *rpc.Incomplete
			if !errors.As(err, &bad) || bad.Why != c.want || bad.Block != c.block || !errors.Is(err, c.want) || r != nil {
				t.Errorf("%v", err)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "rpc 1: logs of blocks 400 to 500: ") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestHashesOfAnyCaseAreEqual: and times may be missing.
func TestHashesOfAnyCaseAreEqual(t *testing.T) {
	logs := someLogs(450, 450, 500)
	logs = strings.Replace(logs, hashOf(450), strings.ToUpper(hashOf(450)[2:])+"", 1)
	logs = strings.Replace(logs, strings.ToUpper(hashOf(450)[2:]), "0x"+strings.ToUpper(hashOf(450)[2:]), 1)
	logs = strings.ReplaceAll(strings.Replace(logs, hashOf(500), "0x"+strings.ToUpper(hashOf(500)[2:]), 1), `"blockTimestamp"`, `"x"`)
	c, _ := client(t, &node{logs: logs})
	if _, err := c.Logs(t.Context(), 400, 500, nil, nil); err != nil {
		t.Error(err)
	}
}

// TestProviderWithoutTheTag: blocks that are 256 blocks old count as final. After three failures
// the newest block is requested at once; the tag is tried again from time to time.
func TestProviderWithoutTheTag(t *testing.T) {
	for name, answer := range map[string]func(q question) string{
		"null":        func(q question) string { return fmt.Sprintf(`{"id":%d,"result":null}`, q.ID) },
		"unknown":     func(q question) string { return failure(q, -39001, "Unknown block") },
		"not a block": func(q question) string { return failure(q, -32602, "invalid argument 0: hex string without 0x prefix") },
		"not found":   func(q question) string { return failure(q, -32000, "finalized block not found") },
	} {
		t.Run(name, func(t *testing.T) {
			n := &node{logs: someLogs(400)}
			n.change = func(_ int, q []question, a []string) (int, string) {
				for i := range q {
					if q[i].Method != "eth_getLogs" && q[i].block() == "finalized" {
						a[i] = answer(q[i])
					}
				}
				return 200, list(a)
			}
			c, _ := client(t, n)
			for i := range 104 {
				r, err := c.Logs(t.Context(), 400, 500, address(t), topics(t))
				if err != nil || r.Finalized.Number != 1100-256 || r.Latest != 1100 || !r.Finalized.Hash.IsZero() || c.Stats().Finalized != (i < 2 || i == 102) {
					t.Fatalf("%+v %v", r, err)
				}
				if r.Together != (i >= 3 && i < 103) {
					t.Errorf("time %d: together %v", i, r.Together)
				}
			}
			if diff := cmp.Diff([][]string{{askLogs, askEnd, askFinal}, {askNew}, {askLogs, askEnd, askFinal}, {askNew}, {askLogs, askEnd, askFinal}, {askNew}, {askLogs, askEnd, askNew}}, n.asked[:7]); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([][]string{{askLogs, askEnd, askNew}, {askLogs, askEnd, askFinal}, {askNew}}, n.asked[105:108]); diff != "" {
				t.Error(diff)
			}
			var bad *rpc.Incomplete
			if _, err := c.Logs(t.Context(), 400, 845, nil, nil); !errors.As(err, &bad) || bad.Why != rpc.NotFinal {
				t.Error(err)
			}
			if final, latest, err := c.Finalized(t.Context()); err != nil || final.Number != 844 || latest != 1100 {
				t.Errorf("%+v %d %v", final, latest, err)
			}
		})
	}
}

// TestTagThatIsOnceNotKnown: the tag is tried again the next time.
func TestTagThatIsOnceNotKnown(t *testing.T) {
	n := &node{logs: "[]", change: func(request int, q []question, a []string) (int, string) {
		if request%3 == 1 {
			a[2] = fmt.Sprintf(`{"id":%d,"result":null}`, q[2].ID)
		}
		return 200, list(a)
	}}
	c, _ := client(t, n)
	for i := range 20 { // every second one
		r, err := c.Logs(t.Context(), 400, 500, nil, nil)
		if err != nil || !c.Stats().Finalized || (r.Latest > 0) != (i%2 == 0) {
			t.Fatalf("time %d: %+v %v", i, r, err)
		}
	}
}

func TestOnlyPolygonIsRead(t *testing.T) {
	n := &node{logs: "[]", chain: "0x1"}
	c, _ := client(t, n)
	var other *rpc.WrongChain
	if _, err := c.Logs(t.Context(), 1, 2, nil, nil); !errors.As(err, &other) || other.ID != 1 {
		t.Error(err)
	}
	if _, err := c.Headers(t.Context(), []int64{1}); !errors.As(err, &other) {
		t.Error(err)
	}
	if _, _, err := c.Finalized(t.Context()); !errors.As(err, &other) {
		t.Error(err)
	}
	if len(n.asked) > 0 {
		t.Error(n.asked)
	}
}

func TestTooLargeIsTooWide(t *testing.T) {
	n := &node{logs: someLogs(slices.Repeat([]int64{450}, 100)...)}
	c, _ := client(t, n, func(o *fetch.Options) { o.MaxBody = 10_000 })
	var w *rpc.TooWide
	if _, err := c.Logs(t.Context(), 400, 500, nil, nil); !errors.As(err, &w) || w.To != 0 {
		t.Error(err)
	}
	for _, body := range []string{`{"message":"no"}`, `no`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Request Entity Too Large"}}`} {
		n = &node{logs: "[]", change: func(int, []question, []string) (int, string) { return 413, body }}
		c, _ = client(t, n)
		if _, err := c.Logs(t.Context(), 400, 500, nil, nil); !errors.As(err, &w) || w.To != 0 || len(n.asked) != 1 {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestChainIsAskedForOnce however many calls follow.
func TestChainIsAskedForOnce(t *testing.T) {
	n := &node{logs: "[]"}
	c, h := client(t, n)
	for range 3 {
		if _, err := c.Logs(t.Context(), 400, 500, nil, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Header(t.Context(), 400); err != nil {
			t.Fatal(err)
		}
	}
	if s := h.Stats(); s.Requests[200] != 7 || len(n.asked) != 6 {
		t.Errorf("%+v", s)
	}
}

// TestRefusedKeyIsARefusal even if the node reports it in a JSON-RPC error.
func TestRefusedKeyIsARefusal(t *testing.T) {
	n := &node{change: func(_ int, q []question, _ []string) (int, string) {
		return 401, failure(q[0], -32000, "invalid project id S3cretKey")
	}}
	c, _ := client(t, n)
	_, err := c.Logs(t.Context(), 400, 500, nil, nil)
	var refused *fetch.StatusError
	if !errors.As(err, &refused) || refused.Code != 401 || strings.Contains(err.Error(), "S3cret") || len(n.asked) != 1 {
		t.Errorf("asked %d times: %v", len(n.asked), err)
	}
}
