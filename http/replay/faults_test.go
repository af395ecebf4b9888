package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"pmx/data/chain"
	"pmx/data/sample"
)

func alone(source, name string) map[string]Faults {
	return map[string]Faults{source: {Names: []string{name}, Rate: 1}}
}

// TestTransportFaults checks what a client sees of each.
func TestTransportFaults(t *testing.T) {
	v := venue(t, sample.Config{Fills: 300, Seed: 3, Chain: true})
	status := func(want int, html bool) func(*http.Response, []byte, error) bool {
		return func(r *http.Response, b []byte, err error) bool {
			return err == nil && r.StatusCode == want && strings.Contains(string(b), "<html>") == html
		}
	}
	cut := func(r *http.Response, b []byte, err error) bool {
		return r != nil && r.StatusCode == http.StatusOK && len(b) > 0 && errors.Is(err, io.ErrUnexpectedEOF)
	}
	seen := map[string]bool{}
	for name, fits := range map[string]func(*http.Response, []byte, error) bool{
		"429": func(r *http.Response, _ []byte, _ error) bool {
			return r.StatusCode == 429 && r.Header.Get("Retry-After") == ""
		},
		"429-seconds:7": func(r *http.Response, _ []byte, _ error) bool {
			return r.StatusCode == 429 && r.Header.Get("Retry-After") == "7"
		},
		"429-date:60": func(r *http.Response, _ []byte, _ error) bool {
			at, err := http.ParseTime(r.Header.Get("Retry-After"))
			return r.StatusCode == 429 && err == nil && time.Until(at) > 50*time.Second && time.Until(at) < 61*time.Second
		},
		"403": status(403, true), "408": status(408, false), "425": status(425, false), "500": status(500, false),
		"502": status(502, true), "503": status(503, true), "html": status(200, true),
		"truncated": func(_ *http.Response, b []byte, err error) bool { return err == nil && len(b) > 0 && !json.Valid(b) },
		"empty-list": func(_ *http.Response, b []byte, err error) bool {
			return err == nil && string(b) == "[]"
		},
		"errors":     func(_ *http.Response, b []byte, err error) bool { return err == nil && string(b) == `{"errors":[]}` },
		"empty-body": func(_ *http.Response, b []byte, err error) bool { return err == nil && len(b) == 0 },
		"slow:80":    func(_ *http.Response, b []byte, err error) bool { return err == nil && json.Valid(b) },
		"stalled:10": cut, "wrong-length": cut,
		"reset": func(_ *http.Response, _ []byte, err error) bool {
			return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.ErrUnexpectedEOF)
		},
		"closed":   func(r *http.Response, _ []byte, err error) bool { return r == nil && errors.Is(err, io.EOF) },
		"bad-gzip": func(_ *http.Response, _ []byte, err error) bool { return err != nil },
	} {
		s, url := startServer(t, Options{Venue: v, Faults: alone("", name)})
		latest, _ := s.Latest()
		began := time.Now()
		res, err := http.Post(url+"/rpc", "application/json", strings.NewReader(question(latest-100, latest)))
		var b []byte
		if err == nil {
			b, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		if !fits(res, b, err) {
			t.Errorf("%s: res = %v, err = %v, b = %.80q", name, res, err, b)
		}
		if strings.HasPrefix(name, "slow") && time.Since(began) < 50*time.Millisecond {
			t.Errorf("%s took %v", name, time.Since(began))
		}
		name, _, _ = strings.Cut(name, ":")
		seen[name] = true
		if s.Drawn()[name] == 0 {
			t.Errorf("%s was not counted", name)
		}
	}
	for _, k := range transportFaults {
		if !seen[k.Name] {
			t.Errorf("no case tries %s", k.Name)
		}
	}
}

// truth is what a node without faults says about the end of the venue.
type truth struct {
	s        *Server
	url      string
	from, to int64
	latest   int64
	plain    []answered
	logs     []string
}

// TestRPCFaults checks that each fault changes a correct response as described, and nothing else.
func TestRPCFaults(t *testing.T) {
	v := venue(t, sample.Config{Fills: 6000, Seed: 3, Chain: true})
	last := sample.BlockOf(v.Matches[len(v.Matches)-1].At)
	tried := map[string]bool{}
	for _, c := range rpcCases {
		name, _, _ := strings.Cut(c.fault, ":")
		tried[name] = true
		s, url := startServer(t, Options{Venue: v, Start: time.Unix(sample.BlockTime(last)+3, 0)})
		tr := truth{s: s, url: url + "/rpc", from: last - 8000, to: last, latest: last + 1}
		tr.plain = ask(t, tr.url, tr.from, tr.to)
		for _, raw := range logsOf(t, tr.plain[0]) {
			tr.logs = append(tr.logs, string(raw))
		}
		if len(tr.logs) < 40 {
			t.Fatalf("got %d logs", len(tr.logs))
		}
		if err := s.SetFaults("rpc/2", Faults{Names: []string{c.fault}, Rate: 1}); err != nil {
			t.Fatal(err)
		}
		status, b := post(t, tr.url+"/2", question(tr.from, tr.to))
		if err := c.fits(&tr, status, b); err != nil {
			t.Errorf("%s: err = %v, status = %d, b = %.300s", c.fault, err, status, b)
		}
		if again := ask(t, tr.url+"/1", tr.from, tr.to); len(again) != 3 || string(again[0].Result) != string(tr.plain[0].Result) {
			t.Errorf("%s: another node has the fault too", c.fault)
		}
	}
	for _, k := range rpcFaults {
		if !tried[k.Name] {
			t.Errorf("no case tries %s", k.Name)
		}
	}
}

var errOther = errors.New("the response differs")

// refused checks that the first response is this error.
func refused(status, code int, message string) func(*truth, int, []byte) error {
	return func(tr *truth, got int, b []byte) error {
		var list []answered
		if json.Unmarshal(b, &list) != nil {
			list = make([]answered, 1)
			if err := json.Unmarshal(b, &list[0]); err != nil {
				return err
			}
		}
		message := strings.NewReplacer("FROM", fmt.Sprintf("0x%x", tr.from), "NEXT", fmt.Sprintf("0x%x", tr.from+9)).Replace(message)
		if e := list[0].Error; got != status || e == nil || e.Code != code || !strings.Contains(e.Message, message) {
			return fmt.Errorf("%w: want %d %q", errOther, code, message)
		}
		return nil
	}
}

// batch checks the responses to a batch.
func batch(fits func(tr *truth, list []answered) bool) func(*truth, int, []byte) error {
	return func(tr *truth, status int, b []byte) error {
		var list []answered
		if err := json.Unmarshal(b, &list); err != nil {
			return err
		}
		if status != http.StatusOK || !fits(tr, list) {
			return errOther
		}
		return nil
	}
}

// fewer returns how many of the true logs are missing, and false if there are any others.
func fewer(tr *truth, list []answered) (n int, ok bool) {
	var got []json.RawMessage
	if len(list) != 3 || json.Unmarshal(list[0].Result, &got) != nil || string(list[1].Result) != string(tr.plain[1].Result) {
		return 0, false
	}
	at := 0
	for _, raw := range got {
		for at < len(tr.logs) && tr.logs[at] != string(raw) {
			at++
		}
		if at == len(tr.logs) {
			return 0, false
		}
		at++
	}
	return len(got), len(got) < len(tr.logs)
}

func someFewer(tr *truth, list []answered) bool {
	n, ok := fewer(tr, list)
	return ok && n > len(tr.logs)/2
}

// with returns the logs that are not among the true ones, and whether all true ones are there.
func with(tr *truth, list []answered) (more []chain.Event, all bool) {
	var got []json.RawMessage
	if len(list) != 3 || json.Unmarshal(list[0].Result, &got) != nil {
		return nil, false
	}
	left := map[string]int{}
	for _, l := range tr.logs {
		left[l]++
	}
	d := chain.NewDecoder(chain.Contracts())
	for _, raw := range got {
		if left[string(raw)] > 0 {
			left[string(raw)]--
			continue
		}
		e, err := d.Decode(raw)
		if err != nil {
			return nil, false
		}
		more = append(more, *e)
	}
	for _, n := range left {
		if n > 0 {
			return more, false
		}
	}
	return more, true
}

func each(want int, list []chain.Event, fits func(e *chain.Event) bool) bool {
	for i := range list {
		if !fits(&list[i]) {
			return false
		}
	}
	return len(list) >= want
}

var rpcCases = []struct {
	fault string
	fits  func(tr *truth, status int, body []byte) error
}{
	{"range-publicnode:8000", refused(200, -32701, "exceed maximum block range: 8000")},
	{"range-quicknode:8000", refused(200, -32614, "eth_getLogs is limited to a 8,000 range")},
	{"range-alchemy", refused(200, -32600, "this block range should work: [FROM, NEXT]")},
	{"range-drpc:8000", refused(200, 35, "ranges over 8000 blocks are not supported")},
	{"range-ankr", refused(200, -32600, "block range is too wide")},
	{"range-infura:20", refused(200, -32005, "query returned more than 20 results. Try with this block range [0x")},
	{"range-geth:8000", refused(200, -32602, "exceed maximum block range 8000")},
	{"range-merkle:8000", refused(200, -32602, "eth_getLogs range is too large, max is 8k blocks")},
	{"413", func(_ *truth, status int, b []byte) error {
		if status != http.StatusRequestEntityTooLarge || json.Valid(b) {
			return errOther
		}
		return nil
	}},
	{"batch-limit:2", refused(500, 31, "Batch of more than 2 requests are not allowed on free plan")},

	{"batch-partial", batch(func(_ *truth, list []answered) bool { return len(list) == 2 })},
	{"batch-order", batch(func(tr *truth, list []answered) bool {
		return len(list) == 3 && string(list[0].ID) == "3" && string(list[2].Result) == string(tr.plain[0].Result)
	})},
	{"batch-twice", batch(func(_ *truth, list []answered) bool {
		return len(list) == 4 && len(list[3].Result) > 0 && string(list[3].ID) < "4"
	})},
	{"batch-foreign", batch(func(_ *truth, list []answered) bool { return len(list) == 4 && string(list[3].ID) == "987654321" })},
	{"batch-null", batch(func(_ *truth, list []answered) bool {
		n := 0
		for _, a := range list {
			if string(a.Result) == "null" {
				n++
			}
		}
		return n == 1 && len(list) == 3
	})},
	{"batch-error", batch(func(_ *truth, list []answered) bool {
		n := 0
		for _, a := range list {
			if a.Error != nil {
				n++
			}
		}
		return n == 1 && len(list) == 3
	})},

	{"lagging-node:5000", batch(func(tr *truth, list []answered) bool { n, ok := fewer(tr, list); return ok && n > 0 })},
	{"lost-logs", batch(someFewer)},
	{"lost-transactions", batch(someFewer)},
	{"empty-range", batch(func(tr *truth, list []answered) bool { n, ok := fewer(tr, list); return ok && n == 0 })},
	{"other-fork", batch(func(tr *truth, list []answered) bool {
		more, _ := with(tr, list)
		return string(list[1].Result) == string(tr.plain[1].Result) && each(1, more, func(e *chain.Event) bool {
			return e.Log.Block == tr.to && e.Log.BlockHash.String() != headerHash(list[1].Result)
		})
	})},
	{"no-header", batch(func(_ *truth, list []answered) bool { return len(list) == 3 && string(list[1].Result) == "null" })},
	{"no-finalized", batch(func(_ *truth, list []answered) bool {
		return len(list) == 3 && list[2].Error != nil && list[1].Error == nil
	})},
	{"finalized-back", batch(func(tr *truth, list []answered) bool {
		return len(list) == 3 && strings.Contains(string(list[2].Result), fmt.Sprintf(`"number":"0x%x"`, tr.latest-16-64))
	})},
	{"reorg", batch(func(tr *truth, list []answered) bool {
		more, all := with(tr, list)
		return !all && headerHash(list[1].Result) != headerHash(tr.plain[1].Result) && headerHash(list[2].Result) == headerHash(tr.plain[2].Result) &&
			each(1, more, func(e *chain.Event) bool { return e.Log.Block > tr.latest-16 })
	})},

	{"log-twice", batch(func(tr *truth, list []answered) bool {
		more, all := with(tr, list)
		return all && each(2, more, func(e *chain.Event) bool { return e.Kind == chain.Filled && !e.Log.Removed })
	})},
	{"log-removed", batch(func(tr *truth, list []answered) bool {
		more, all := with(tr, list)
		return all && each(2, more, func(e *chain.Event) bool { return e.Log.Removed })
	})},
	{"no-block-time", batch(func(tr *truth, list []answered) bool {
		more, _ := with(tr, list)
		return each(len(tr.logs), more, func(e *chain.Event) bool { return e.Log.Time == 0 && e.Log.Block > 0 })
	})},
	{"mixed-case", batch(func(tr *truth, list []answered) bool {
		more, _ := with(tr, list)
		return len(more) > len(tr.logs)/2 && strings.EqualFold(string(list[0].Result), string(tr.plain[0].Result))
	})},
	{"unknown-topics", batch(func(tr *truth, list []answered) bool {
		more, all := with(tr, list)
		return all && each(1, more, func(e *chain.Event) bool { return e.Kind == chain.PassedOver && e.Why == "unknown_event" })
	})},
	{"unknown-module:1", batch(func(tr *truth, list []answered) bool {
		more, all := with(tr, list)
		return all && each(2, more, func(e *chain.Event) bool { return e.Kind == chain.Filled && e.Fill.Odd == "unknown_module" })
	})},
}

func headerHash(raw json.RawMessage) string {
	var h header
	_ = json.Unmarshal(raw, &h) // without a header there is no hash
	return h.Hash
}

// TestRandomFaultsAreTheSeeds checks that the same seed draws the same faults, at the configured
// rate.
func TestRandomFaultsAreTheSeeds(t *testing.T) {
	draw := func(seed uint64) (names []string) {
		p, err := newPlans(seed, map[string]Faults{"rpc": {Names: []string{"all"}, Rate: 0.25}})
		if err != nil {
			t.Fatal(err)
		}
		for range 4000 {
			name := ""
			if f := p.draw("rpc/1"); f != nil {
				name = f.Name
				if f.Adds {
					t.Fatalf("%s adds to the venue", name)
				}
			}
			names = append(names, name)
		}
		return names
	}
	one, same, other := fmt.Sprint(draw(1)), fmt.Sprint(draw(1)), fmt.Sprint(draw(2))
	if one != same || one == other {
		t.Error("faults are not those of the seed")
	}
	if n := len(strings.Fields(one)); n < 850 || n > 1150 {
		t.Errorf("%d of 4000 requests have a fault, want a quarter", n)
	}
	p, err := newPlans(1, map[string]Faults{"rpc": {Names: []string{"all", "stalled:200", "-closed"}}})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int64{}
	for _, k := range p.by["rpc"].kinds {
		all[k.Name] = k.Number
	}
	if _, there := all["closed"]; there || all["stalled"] != 200 || len(all) != len(p.by["rpc"].kinds) || len(all) != len(transportFaults)+len(rpcFaults)-2 {
		t.Errorf("all = %v", all)
	}
	for _, bad := range []Faults{{Names: []string{"nothing"}}, {Names: []string{"slow:x"}}, {Rate: 2}} {
		if _, err := newPlans(0, map[string]Faults{"rpc": bad}); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
