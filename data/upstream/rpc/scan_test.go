package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"pmx/data/chain"
)

var seeds = []string{
	`[]`, ` [ ] `, `[1]`, `[{"a":"\"]"},{"b":[1,2,{"c":null}]} , "\\" ]`, `{"a":1}`, `[1,]`, `[,1]`, `[1 2]`, `[`, `]`, `[]]`, `[{]}`, `["`, `["\`, `null`, ``, `[true,false,-1.5e+3]`,
	`{"id":1,"result":[{"blockNumber":"0x1","removed":false}]}`, `{"a" : {"b":"}"} , "c":[]}`, `{"a"}`, `{"a":}`, `{a:1}`, `[{"a":1},]`,
}

// FuzzElements: a JSON array has the same elements as with the standard library, and valid JSON
// that is not an array is an error. For invalid JSON, elements may come before the error; each is a
// part of the text after the previous one.
func FuzzElements(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var got [][]byte
		err := elements(b, func(e []byte) error {
			got = append(got, e)
			return nil
		})
		at := 0
		for _, e := range got {
			i := bytes.Index(b[at:], e)
			if len(e) == 0 || i < 0 {
				t.Fatalf("%q is not in the rest of %q", e, b)
			}
			at += i + len(e)
		}
		var want []json.RawMessage
		switch {
		case !json.Valid(b):
			return
		case json.Unmarshal(b, &want) != nil || want == nil:
			if !errors.Is(err, errNoJSON) {
				t.Fatalf("%q: %v", b, err)
			}
			return
		}
		if err != nil && nestedIn(b) < chain.DeepestJSON {
			t.Fatalf("%q: %v", b, err)
		}
		if err == nil && len(got) != len(want) {
			t.Fatalf("%q: %d elements, not %d", b, len(got), len(want))
		}
		for i := range got {
			if !bytes.Equal(got[i], bytes.TrimSpace(want[i])) {
				t.Fatalf("%q: %q, not %q", b, got[i], want[i])
			}
		}
	})
}

// nestedIn returns the maximum number of open brackets.
func nestedIn(b []byte) (most int) {
	depth := 0
	for _, c := range b {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		most = max(most, depth)
	}
	return most
}

// FuzzAnswers: any response is read without a panic, and if it is JSON, all of its logs are found.
func FuzzAnswers(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Add([]byte(`[{"blockNumber":"0x5","blockHash":"0x00","removed":false,"topics":["0x1"]},{"blockNumber":"0x6","blockHash":"0x01"}]`))
	f.Add([]byte(`[{"jsonrpc":"2.0","id":2,"error":{"code":-32005,"message":"query returned more than 10 results [0x1, 0x5]","data":{"from":"0x1","to":"0x2"}}}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = answers(&room{body: b}, func(a *answered) error {
			if a.err != nil {
				e := newError(a.err)
				if w := e.tooWide(10, 100); w.To != 0 && (w.From != 10 || w.To < 10 || w.To >= 100) {
					t.Fatalf("%q: %+v", b, w)
				}
				if n := e.batchOf(5); n < 1 || n > 4 {
					t.Fatalf("%q: a batch of %d", b, n)
				}
				_, _, _, _ = e.isBatch(true), e.isTooMuch(), e.passes(), e.noTag()
			}
			_, _ = header(&reply{result: a.result}, 5)
			return nil
		})
		list, end, err := locateElements(b, chain.SkipSpace(b, 0), nil)
		if err != nil || over(b, end) != nil {
			return
		}
		r := &Range{From: 0, To: 1 << 62, room: room{b, list}}
		if r.check() != nil {
			return
		}
		n := int64(0)
		if err := r.EachLog(func([]byte) error { n++; return nil }); err != nil || n != r.Count() {
			t.Fatalf("%q: %d logs of %d: %v", b, n, r.Count(), err)
		}
		var want []struct {
			BlockNumber json.RawMessage
			Removed     json.RawMessage
		}
		if json.Valid(b) && json.Unmarshal(b, &want) == nil && len(want) != int(n) {
			t.Fatalf("%q: %d logs, not %d", b, n, len(want))
		}
	})
}
