package rpc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/rpc"
)

// TestRangesThatAreTooWide has errors of providers for a range of 100,001 blocks from 1,000,000 on,
// and the last block that is proposed; 0 if none is. The messages are shortened.
func TestRangesThatAreTooWide(t *testing.T) {
	for name, c := range map[string]struct {
		status, code int
		text, data   string
		to, logs     int64
	}{
		"own range":            {200, -32602, "you can have up to a 2K block range, or 10K logs in the response. This block range should work: [0xf4240, 0xf4628]", "", 1_001_000, 0},
		"own range, 10":        {400, -32600, "with up to a 10 block range. Based on your parameters, this block range should work: [0xf4240, 0xf4249]", "", 1_000_009, 0},
		"results, own range":   {200, -32005, "query returned more than 10000 results. Try with this block range [0xF4240, 0xF4271].", "", 1_000_049, 10_000},
		"own range as data":    {200, -32005, "query returned more than 10000 results", `{"from":"0xf4240","limit":10000,"to":"0xf42a3"}`, 1_000_099, 10_000},
		"range elsewhere":      {200, -32602, "this block range should work: [0x1, 0x64]", "", 1_000_099, 0},
		"range as wide":        {200, -32602, "this block range should work: [0x1, 0xffffffff]", "", 0, 0},
		"range backwards":      {200, -32602, "this block range should work: [0x64, 0x1]", "", 0, 0},
		"limited with comma":   {413, -32614, "eth_getLogs is limited to a 10,000 range", "", 1_009_999, 0},
		"limited from zero":    {200, -32000, "eth_getLogs is limited to 0 - 5000 blocks range", "", 1_004_999, 0},
		"limited plainly":      {200, -32600, "eth_getLogs is limited to 1024 block range", "", 1_001_023, 0},
		"maximum, colon":       {200, -32701, "exceed maximum block range: 50000", "", 1_049_999, 0},
		"maximum":              {200, -32602, "exceed maximum block range 10000", "", 1_009_999, 0},
		"ranges over":          {400, 35, "ranges over 10000 blocks are not supported on free plan", "", 1_009_999, 0},
		"thousands as k":       {200, -32602, "eth_getLogs range is too large, max is 10k blocks", "", 1_009_999, 0},
		"too wide":             {200, -32600, "block range is too wide", "", 0, 0},
		"requested blocks":     {200, -32602, "Maximum allowed number of requested blocks is 3500", "", 1_003_499, 0},
		"max range":            {200, -32047, "Invalid eth_getLogs request. Max range: 800", "", 1_000_799, 0},
		"only results":         {200, -32005, "query returned more than 20,000 results", "", 0, 20_000},
		"query exceeds":        {200, -32602, "query exceeds max results 20000, retry with the range 1000000-1000005", "", 1_000_005, 20_000},
		"size of response":     {200, -32008, "Response is too big", "", 0, 0},
		"size exceeded":        {200, -32600, "Log response size exceeded.", "", 0, 0},
		"limit of any kind":    {200, -32005, "limit exceeded", "", 0, 0},
		"took too long":        {200, -32002, "query timeout exceeded", "", 0, 0},
		"in a server error":    {500, -32603, "block range is too wide", "", 0, 0},
		"wider than requested": {200, -32602, "exceed maximum block range: 200000", "", 0, 0},
		"none at all":          {200, -32602, "exceed maximum block range: 0", "", 0, 0},
		"a number too large":   {200, -32602, "exceed maximum block range: 99999999999999999999", "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, whole := range []bool{false, true} {
				n := &node{final: 2_000_000, change: func(_ int, q []question, a []string) (int, string) {
					e := map[string]any{"code": c.code, "message": c.text}
					if c.data != "" {
						e["data"] = json.RawMessage(c.data)
					}
					b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": q[0].ID, "error": e})
					if whole {
						return c.status, string(b)
					}
					a[0] = string(b)
					return c.status, list(a)
				}}
				cl, h := client(t, n)
				_, err := cl.Logs(t.Context(), 1_000_000, 1_100_000, nil, nil)
				var w *rpc.TooWide
				if !errors.As(err, &w) || w.To != c.to || w.Logs != c.logs || w.Said != c.text {
					t.Fatalf("%+v %v", w, err)
				}
				if (w.From != 0) != (w.To != 0) || len(n.asked) != 1 || h.Stats().PerSecond != 1000 {
					t.Errorf("%+v, asked %d times", w, len(n.asked))
				}
				if whole && cl.Stats().Batch != 100 {
					t.Error("it is read as a limit of batches")
				}
			}
		})
	}
}

// TestCapturedRangeErrors is the same with captured responses.
func TestCapturedRangeErrors(t *testing.T) {
	for name, want := range map[string]int64{
		"ankr_range": 0, "drpc_range_35": 1_009_999, "geth_range": 1_009_999, "merkle_range": 1_009_999, "publicnode_range": 1_049_999, "quicknode_range": 1_009_999,
	} {
		b, err := os.ReadFile(testfiles.Captured(t, "G_live", "rpc_errors", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var captured struct {
			Status int
			Body   json.RawMessage
		}
		if err := json.Unmarshal(b, &captured); err != nil {
			t.Fatal(err)
		}
		n := &node{final: 2_000_000, change: func(int, []question, []string) (int, string) { return captured.Status, string(captured.Body) }}
		cl, _ := client(t, n)
		_, err = cl.Logs(t.Context(), 1_000_000, 1_100_000, nil, nil)
		var w *rpc.TooWide
		if !errors.As(err, &w) || w.To != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestErrorsThatAreNotOfTheRange checks that other errors are not taken for a TooWide.
func TestErrorsThatAreNotOfTheRange(t *testing.T) {
	for text, code := range map[string]int{
		"invalid params": -32602, "the method eth_getLogs does not exist": -32601, "execution reverted": 3,
	} {
		n := &node{change: func(_ int, q []question, a []string) (int, string) {
			a[0] = failure(q[0], code, text)
			return 200, list(a)
		}}
		cl, _ := client(t, n)
		_, err := cl.Logs(t.Context(), 400, 500, nil, nil)
		var e *rpc.Error
		if !errors.As(err, &e) || e.Code != int64(code) || e.Message != text || len(n.asked) != 1 {
			t.Errorf("%s: asked %d times: %v", text, len(n.asked), err)
		}
	}
	n := &node{change: func(_ int, q []question, a []string) (int, string) {
		a[0] = fmt.Sprintf(`{"id":%d,"error":"plain words"}`, q[0].ID)
		return 200, list(a)
	}}
	cl, _ := client(t, n)
	var e *rpc.Error
	if _, err := cl.Logs(t.Context(), 400, 500, nil, nil); !errors.As(err, &e) || e.Message != "plain words" {
		t.Error(err)
	}
}

// TestTooMuchIsSaidInTheBody: the budget is halved, and the refused call is repeated later.
func TestTooMuchIsSaidInTheBody(t *testing.T) {
	for text, code := range map[string]int{
		"your app has reached its limit":                 429,
		"exceeded its compute units per second capacity": -32000,
		"daily request count exceeded, rate limited":     -32005,
		"Too Many Requests":                              -32000,
	} {
		n := &node{logs: someLogs(450), change: func(request int, q []question, a []string) (int, string) {
			if request == 1 {
				a[0] = failure(q[0], code, text)
			}
			return 200, list(a)
		}}
		c, h := client(t, n)
		began := h.Stats()
		r, err := c.Logs(t.Context(), 400, 500, nil, nil)
		if s := h.Stats(); err != nil || r.Count() != 1 || s.PerSecond > 510 || s.Throttled-began.Throttled != time.Second || len(n.asked) != 2 {
			t.Errorf("%s: %+v %v", text, s, err)
		}
	}
	n := &node{change: func(_ int, q []question, a []string) (int, string) {
		for i := range a {
			a[i] = failure(q[i], 429, "too many requests, key S3cretKey")
		}
		return 200, list(a)
	}}
	c, h := client(t, n)
	_, err := c.Logs(t.Context(), 400, 500, nil, nil)
	var e *rpc.Error
	if !errors.As(err, &e) || e.Code != 429 || len(n.asked) != 5 {
		t.Errorf("asked %d times: %v", len(n.asked), err)
	}
	if text := fmt.Sprintf("%v %+v %+v", err, e, h.Stats()); strings.Contains(text, "S3cret") {
		t.Error(text)
	}
}

// TestProviderThatFailsInTheBody: the call is repeated a few times, with pauses.
func TestProviderThatFailsInTheBody(t *testing.T) {
	n := &node{change: func(_ int, q []question, a []string) (int, string) {
		a[0] = failure(q[0], -32603, "internal error")
		return 200, list(a[:len(q)])
	}}
	c, h := client(t, n)
	_, err := c.Logs(t.Context(), 400, 500, nil, nil)
	var e *rpc.Error
	if s := h.Stats(); !errors.As(err, &e) || e.Code != -32603 || len(n.asked) != 5 || s.Throttled != 15*time.Second {
		t.Errorf("asked %d times, %v: %v", len(n.asked), s.Throttled, err)
	}
}

// TestBatchLimits: a provider that accepts three calls gets no more, and one that does not support
// batches gets the calls one by one, the logs last.
func TestBatchLimits(t *testing.T) {
	few := func(most int, answer func(q []question) (int, string)) func(int, []question, []string) (int, string) {
		return func(_ int, q []question, _ []string) (int, string) {
			if len(q) > most {
				return answer(q)
			}
			return 0, ""
		}
	}
	for name, c := range map[string]struct {
		answer func(q []question) (int, string)
		want   int
	}{
		"captured shape": {func(q []question) (int, string) {
			return 500, list([]string{failure(q[0], 31, "Batch of more than 3 requests are not allowed on free plan")})
		}, 3},
		"a number":  {func(q []question) (int, string) { return 200, failure(q[0], -32600, "batch size exceeds limit of 3") }, 3},
		"too large": {func(q []question) (int, string) { return 413, failure(q[0], -32600, "batch too large") }, 1},
		"no number": {func(q []question) (int, string) { return 200, failure(q[0], -32600, "Batch limit exceeded") }, 1},
		"not known": {func(q []question) (int, string) {
			return 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request"}}`
		}, 1},
		"not read": {func(q []question) (int, string) {
			return 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`
		}, 1},
		"without a reason":   {func(q []question) (int, string) { return 400, `{}` }, 1},
		"method not allowed": {func(q []question) (int, string) { return 405, `no` }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			n := &node{}
			n.change = few(c.want, c.answer)
			cl, _ := client(t, n)
			headers, err := cl.Headers(t.Context(), []int64{5, 4, 6, 5, 7})
			if err != nil || cl.Stats().Batch != c.want {
				t.Fatalf("batch %d: %v", cl.Stats().Batch, err)
			}
			for i, number := range []int64{5, 4, 6, 5, 7} {
				if headers[i].Number != number || headers[i].Hash.String() != hashOf(number) {
					t.Errorf("%d: %+v", i, headers[i])
				}
			}
			var sizes []int
			for _, a := range n.asked {
				sizes = append(sizes, len(a))
			}
			want := []int{5, 3, 2}
			if c.want == 1 {
				want = []int{5, 1, 1, 1, 1, 1}
			}
			if diff := cmp.Diff(want, sizes); diff != "" {
				t.Error(diff)
			}
		})
	}
	n := &node{logs: someLogs(450)}
	n.change = few(1, func(q []question) (int, string) { return 200, failure(q[0], -32600, "batches are not supported") })
	c, _ := client(t, n)
	for range 2 {
		r, err := c.Logs(t.Context(), 400, 500, address(t), topics(t))
		if err != nil || r.Count() != 1 || r.Together {
			t.Fatalf("%+v %v", r, err)
		}
	}
	if diff := cmp.Diff([][]string{{askLogs, askEnd, askFinal}, {askLogs}, {askEnd}, {askFinal}, {askEnd}, {askFinal}, {askLogs}}, n.asked); diff != "" {
		t.Error(diff)
	}
	n.final, n.asked = 499, nil
	var bad *rpc.Incomplete
	if _, err := c.Logs(t.Context(), 400, 500, nil, nil); !errors.As(err, &bad) || bad.Why != rpc.NotFinal || len(n.asked) != 2 {
		t.Errorf("%v %v", n.asked, err)
	}
}

// TestCapturedBatchError uses a complete captured response.
func TestCapturedBatchError(t *testing.T) {
	b, err := os.ReadFile(testfiles.Captured(t, "G_live", "rpc_errors", "drpc_batch_31.json"))
	if err != nil {
		t.Fatal(err)
	}
	var captured struct {
		Status int
		Body   json.RawMessage
	}
	if err := json.Unmarshal(b, &captured); err != nil {
		t.Fatal(err)
	}
	n := &node{change: func(_ int, q []question, _ []string) (int, string) {
		if len(q) > 3 {
			return captured.Status, string(captured.Body)
		}
		return 0, ""
	}}
	c, _ := client(t, n)
	if _, err := c.Headers(t.Context(), []int64{1, 2, 3, 4}); err != nil || c.Stats().Batch != 3 {
		t.Errorf("batch %d: %v", c.Stats().Batch, err)
	}
}

func TestHeadersAreOfTheBlocksThatWereAskedFor(t *testing.T) {
	n := &node{}
	c, _ := client(t, n)
	numbers := make([]int64, 250)
	for i := range numbers {
		numbers[i] = int64(i * 3)
	}
	headers, err := c.Headers(t.Context(), numbers)
	if err != nil || len(n.asked) != 3 || len(headers) != 250 || headers[249].Number != 747 {
		t.Fatalf("%d requests, %d headers: %v", len(n.asked), len(headers), err)
	}
	if h, err := c.Header(t.Context(), 9); err != nil || h != headers[3] {
		t.Errorf("%+v %v", h, err)
	}
	if _, err := c.Header(t.Context(), -9); err == nil {
		t.Error("a block below zero")
	}
	if final, latest, err := c.Finalized(t.Context()); err != nil || final.Number != 1000 || final.Time != 1_700_002_000 || latest != 1100 {
		t.Errorf("%+v %d %v", final, latest, err)
	}
	n.change = func(_ int, q []question, a []string) (int, string) {
		a[len(a)-1] = fmt.Sprintf(`{"id":%d,"result":null}`, q[len(q)-1].ID)
		return 200, list(a)
	}
	var bad *rpc.Incomplete
	if _, err := c.Headers(t.Context(), []int64{1, 2, 77}); !errors.As(err, &bad) || bad.Why != rpc.Behind || bad.Block != 77 {
		t.Error(err)
	}
	n.change = func(_ int, _ []question, a []string) (int, string) {
		return 200, list(a[:len(a)-1])
	}
	if _, err := c.Headers(t.Context(), []int64{1, 2}); !errors.As(err, &bad) || bad.Why != rpc.NotAnswered {
		t.Error(err)
	}
	n.change = func(_ int, _ []question, a []string) (int, string) {
		return 200, strings.Replace(list(a), `"number":"0x1"`, `"number":"0x2"`, 1)
	}
	if _, err := c.Headers(t.Context(), []int64{1, 2}); !errors.As(err, &bad) || bad.Why != rpc.OtherBlock {
		t.Error(err)
	}
}

func TestBodiesThatAreNoJSON(t *testing.T) {
	for _, body := range []string{`[{"id":1,"result":[}]`, `[{"id":1 "result":1}]`, `{"id":1,"result":1}}`, `[1]`, `[{"id":1,"id":2,"result":"0x1"}]`, `{"a":[1}]}`} {
		n := &node{change: func(int, []question, []string) (int, string) { return 200, body }}
		c, _ := client(t, n)
		var shape *fetch.ShapeError
		if _, err := c.Header(t.Context(), 1); !errors.As(err, &shape) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
