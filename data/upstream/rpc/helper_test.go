package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pmx/data"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// question is a call as a node receives it.
type question struct {
	ID     int64  `json:"id"`
	Method string `json:"method"`
	Params []any  `json:"params"`
}

func (q question) String() string {
	b, _ := json.Marshal(q.Params)
	return q.Method + string(b)
}

// block is the requested block number, or the tag.
func (q question) block() string { return fmt.Sprint(q.Params[0]) }

// node is a node of Polygon whose last final block is 1000 and whose newest is 1100. change
// modifies its response: it may omit, repeat or replace the answers to calls.
type node struct {
	mu     sync.Mutex
	asked  [][]string // calls by request, except for those of the chain's id
	chain  string
	logs   string // JSON of the array
	change func(request int, calls []question, answers []string) (status int, body string)
	final  int64
}

const (
	addressText = "0xe111180000d2663c0091e4f400237545b87b996b"
	topicText   = "0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee"
)

func hashOf(block int64) string { return fmt.Sprintf("0x%064x", block+0xabcd0000) }

// headerOf is a block as a node returns it, with fields that are not used.
func headerOf(block int64) string {
	return fmt.Sprintf(`{"number":"0x%x","hash":%q,"parentHash":%q,"timestamp":"0x%x","extraData":"0x%s","transactions":["0x1"],"logsBloom":"0x00"}`,
		block, hashOf(block), hashOf(block-1), 1_700_000_000+block*2, strings.Repeat("ab", 97))
}

// logOf is a log of a block.
func logOf(block int64, index int) string {
	return fmt.Sprintf(`{"address":%q,"topics":[%q],"data":"0x","blockNumber":"0x%x","blockHash":%q,"blockTimestamp":"0x%x","transactionHash":"0x%064x","transactionIndex":"0x0","logIndex":"0x%x","removed":false}`,
		addressText, topicText, block, hashOf(block), 1_700_000_000+block*2, 7, index)
}

func (n *node) answer(q question) string {
	result := "null"
	switch q.Method {
	case "eth_chainId":
		result = `"` + n.chain + `"`
	case "eth_getLogs":
		result = n.logs
	case "eth_getBlockByNumber":
		number := n.final
		if q.block() == "latest" {
			number = 1100
		} else if q.block() != "finalized" {
			_, _ = fmt.Sscanf(q.block(), "0x%x", &number)
		}
		result = headerOf(number)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, q.ID, result)
}

func failure(q question, code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":%d,"message":%q}}`, q.ID, code, message)
}

func list(answers []string) string { return "[" + strings.Join(answers, ",") + "]" }

// ServeHTTP responds like a node.
func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	var calls []question
	single := body[0] == '{'
	if single {
		body = []byte("[" + string(body) + "]")
	}
	if err := json.Unmarshal(body, &calls); err != nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	var answers, texts []string
	for _, q := range calls {
		answers, texts = append(answers, n.answer(q)), append(texts, q.String())
	}
	status, text := http.StatusOK, list(answers)
	if single {
		text = answers[0]
	}
	if calls[0].Method != "eth_chainId" {
		n.asked = append(n.asked, texts)
		if n.change != nil {
			if s, changed := n.change(len(n.asked), calls, answers); s != 0 {
				status, text = s, changed
			}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// client returns a Client of a node, and its Host, whose clock advances when it sleeps.
func client(t testing.TB, n *node, change ...func(o *fetch.Options)) (*rpc.Client, *fetch.Host) {
	t.Helper()
	if n.chain == "" {
		n.chain = "0x89"
	}
	if n.final == 0 {
		n.final = 1000
	}
	s := httptest.NewServer(n)
	var mu sync.Mutex
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	o := fetch.Options{
		Name: "rpc 1", Base: s.URL + "/v2/S3cretKey", Contact: "ops@example.org", Budget: fetch.Budget{PerSecond: 1000, Burst: 1000, InFlight: 4},
		Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		},
		Sleep: func(ctx context.Context, d time.Duration) error {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(d)
			return ctx.Err()
		},
	}
	for _, f := range change {
		f(&o)
	}
	h, err := fetch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.Close()
		s.Close()
	})
	return rpc.New(h), h
}

func address(t testing.TB) []data.Address {
	a, err := data.ParseAddress(addressText)
	if err != nil {
		t.Fatal(err)
	}
	return []data.Address{a}
}

func topics(t testing.TB) []data.Hash {
	h, err := data.ParseHash(topicText)
	if err != nil {
		t.Fatal(err)
	}
	return []data.Hash{h}
}
