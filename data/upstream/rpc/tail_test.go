package rpc_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTailIsOneRequest whose logs are used up to the last final block.
func TestTailIsOneRequest(t *testing.T) {
	n := &node{final: 1002, logs: someLogs(1001, 1002, 1002, 1003, 1005)}
	c, _ := client(t, n)
	final, r, err := c.Tail(t.Context(), 1001, 1005, address(t), topics(t))
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	var got []string
	if err := r.EachLog(func(log []byte) error { got = append(got, string(log)); return nil }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{logOf(1001, 0), logOf(1002, 1), logOf(1002, 2)}, got); diff != "" {
		t.Error(diff)
	}
	if final.Number != 1002 || r.From != 1001 || r.To != 1002 || r.End != final || r.Finalized != final || !r.Together || r.Count() != 3 ||
		r.End.Hash.String() != hashOf(1002) || r.Before.Number != 1000 || r.Before.Hash.String() != hashOf(1000) {
		t.Errorf("%+v %+v", final, r)
	}
	want := [][]string{{`eth_getLogs[{"address":["` + addressText + `"],"fromBlock":"0x3e9","toBlock":"0x3ed","topics":[["` + topicText + `"]]}]`,
		askFinal, `eth_getBlockByNumber["0x3e8",false]`}}
	if diff := cmp.Diff(want, n.asked); diff != "" {
		t.Error(diff)
	}
	if _, _, err := c.Tail(t.Context(), 5, 4, nil, nil); err == nil {
		t.Error("an empty range was requested")
	}
}

// TestTailIsTakenOnlyWhereItIsProved: only if the response proves that the node that returned the
// logs had the last final block.
func TestTailIsTakenOnlyWhereItIsProved(t *testing.T) {
	removed := strings.Replace(logOf(1001, 0), `"removed":false`, `"removed":true`, 1)
	for name, c := range map[string]struct {
		logs   string
		final  int64
		change func(request int, q []question, a []string) (int, string)
	}{
		"nothing is new":                                 {logs: "[]", final: 1000},
		"the head went back":                             {logs: "[]", final: 900},
		"no logs at all":                                 {logs: "[]", final: 1002},
		"the head moved after the logs":                  {logs: someLogs(1001), final: 1002},
		"a log after the end proves nothing":             {logs: someLogs(1001, 1003), final: 1002},
		"the end is another block":                       {logs: list([]string{strings.Replace(logOf(1002, 0), hashOf(1002), hashOf(7), 1)}), final: 1002},
		"two blocks with one number":                     {logs: list([]string{logOf(1001, 0), strings.Replace(logOf(1001, 1), hashOf(1001), hashOf(7), 1), logOf(1002, 0)}), final: 1002},
		"a log was removed":                              {logs: list([]string{removed, logOf(1002, 0)}), final: 1002},
		"a log before the range":                         {logs: someLogs(1000, 1002), final: 1002},
		"a log after the range":                          {logs: someLogs(1002, 1006), final: 1002},
		"more is final than was requested":               {logs: someLogs(1001, 1005), final: 1006},
		"no list":                                        {logs: `{"a":1}`, final: 1002},
		"the logs are refused":                           {logs: "[]", final: 1002, change: refuses(0)},
		"the head and the logs came separately":          {logs: someLogs(1001, 1002), final: 1002, change: leavesOut(0)},
		"the header of the block before came separately": {logs: someLogs(1001, 1002), final: 1002, change: leavesOut(2)},
		"the node does not know what is final":           {logs: someLogs(1001, 1002), final: 1002, change: refuses(1)},
		"the node takes two calls in a batch only":       {logs: someLogs(1001, 1002), final: 1002, change: takesTwo},
	} {
		t.Run(name, func(t *testing.T) {
			n := &node{final: c.final, logs: c.logs, change: c.change}
			cl, _ := client(t, n)
			final, r, err := cl.Tail(t.Context(), 1001, 1005, address(t), topics(t))
			if err != nil || r != nil {
				t.Fatalf("%+v %v", r, err)
			}
			want := c.final
			if name == "the node does not know what is final" {
				want = 1100 - 256
			}
			if final.Number != want {
				t.Errorf("%d is final, not %d", final.Number, want)
			}
		})
	}
}

// TestTailWithoutTheBlockBefore: the tail is used nevertheless, because that block can be requested
// later.
func TestTailWithoutTheBlockBefore(t *testing.T) {
	n := &node{final: 1002, logs: someLogs(1002), change: func(_ int, q []question, a []string) (int, string) {
		a[2] = fmt.Sprintf(`{"id":%d,"result":null}`, q[2].ID)
		return http.StatusOK, list(a)
	}}
	c, _ := client(t, n)
	if _, r, err := c.Tail(t.Context(), 1001, 1005, nil, nil); err != nil || r == nil || !r.Before.Hash.IsZero() || r.Count() != 1 {
		t.Fatalf("%+v %v", r, err)
	}
}

// refuses makes one call of the first batch fail.
func refuses(nth int) func(int, []question, []string) (int, string) {
	return func(request int, q []question, a []string) (int, string) {
		if request > 1 {
			return 0, ""
		}
		a[nth] = failure(q[nth], -32602, "invalid argument 0: hex string without 0x prefix")
		return http.StatusOK, list(a)
	}
}

// leavesOut omits the answer to one call of the first batch.
func leavesOut(nth int) func(int, []question, []string) (int, string) {
	return func(request int, _ []question, a []string) (int, string) {
		if request > 1 {
			return 0, ""
		}
		return http.StatusOK, list(append(a[:nth:nth], a[nth+1:]...))
	}
}

func takesTwo(_ int, q []question, _ []string) (int, string) {
	if len(q) < 3 {
		return 0, ""
	}
	return http.StatusInternalServerError, list([]string{`{"id":null,"error":{"code":31,"message":"Batch of more than 2 requests are not allowed on free plan"}}`})
}
