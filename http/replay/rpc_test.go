package replay

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/sample"
)

// startServer returns a server for a small venue at its end, and its URL.
func startServer(t testing.TB, o Options) (*Server, string) {
	t.Helper()
	if o.Venue == nil {
		o.Venue = venue(t, sample.Config{Fills: 6000, Seed: 3, Chain: true})
	}
	if o.Start.IsZero() {
		o.Start = o.Venue.Manifest.End
	}
	s, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	return s, web.URL
}

type answered struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func post(t testing.TB, url, body string) (int, []byte) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, b
}

// ask requests a range, the header of its end and the final one, as a follower does.
func ask(t testing.TB, url string, from, to int64) (list []answered) {
	t.Helper()
	_, b := post(t, url, question(from, to))
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatalf("err = %v, b = %.300s", err, b)
	}
	return list
}

func question(from, to int64) string {
	var addresses []string
	for _, c := range chain.Contracts() {
		if c.Kind != chain.Other {
			addresses = append(addresses, c.Address.String())
		}
	}
	list, err := json.Marshal(addresses)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`[{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{"fromBlock":"0x%x","toBlock":"0x%x","address":%s,
		"topics":[["0xd0a08e8c493f9c94f29311604c9de1b4e8c8d4c06bd0c789af57f2d65bfec0f6","0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee",
		"0xb608d2bf25d8b4b744ba23ce2ea9802ea955e216c064a62f42152fbf98958d24","0xb44d84d3289691f71497564b85d4233648d9dbae8cbdbb4329f301c3a0185894",
		"0xe560c1a2847d4cf2e66de11fe592605556989449f38cc3ab96e2e287daa68caa"]]}]},
		{"jsonrpc":"2.0","id":2,"method":"eth_getBlockByNumber","params":["0x%x",false]},
		{"jsonrpc":"2.0","id":3,"method":"eth_getBlockByNumber","params":["finalized",false]}]`, from, to, list, to)
}

// TestKeptLogsAreTheSame compares kept logs with those that are encoded per request, in ranges that
// begin and end anywhere, including before the first block with logs and after the last.
func TestKeptLogsAreTheSame(t *testing.T) {
	v := venue(t, sample.Config{Fills: 20_000, Seed: 3, Chain: true})
	o := Options{Venue: v, MaxRange: 1 << 40, MaxLogs: 1 << 30}
	_, fresh := startServer(t, o)
	s, keeping := startServer(t, o)
	_, topics := asked()
	if err := s.Keep(topics); err != nil {
		t.Fatal(err)
	}
	first, last := sample.BlockOf(v.Matches[0].At), sample.BlockOf(v.Matches[len(v.Matches)-1].At)
	stretches := 0
	for _, kept := range s.kept.stretches {
		if kept != nil {
			stretches++
		}
	}
	if stretches < 100 {
		t.Fatalf("%d stretches have logs, want at least 100", stretches)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	ranges := [][2]int64{{first - 5000, last + 1000}, {first, first + stretchBlocks - 1}, {first, first + 3*stretchBlocks}, {last, last}, {first - 10, first - 1}}
	for range 30 {
		from := first + rng.Int64N(last-first)
		ranges = append(ranges, [2]int64{from, from + rng.Int64N(20*stretchBlocks)})
	}
	for _, r := range ranges {
		_, want := post(t, fresh+"/rpc", question(r[0], r[1]))
		got, as := posted(t, keeping+"/rpc", question(r[0], r[1]), "zstd, gzip")
		if !bytes.Equal(got, want) || as != "zstd" {
			t.Fatalf("blocks %d–%d: %d bytes, not %d", r[0], r[1], len(got), len(want))
		}
	}
}

type header struct{ Number, Hash, ParentHash, Timestamp string }

func headerOf(t testing.TB, a answered) (h header) {
	t.Helper()
	if err := json.Unmarshal(a.Result, &h); err != nil {
		t.Fatalf("err = %v, a.Result = %s", err, a.Result)
	}
	return h
}

func logsOf(t testing.TB, a answered) (list []json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(a.Result, &list); err != nil {
		t.Fatalf("err = %v, a.Result = %.200s", err, a.Result)
	}
	return list
}

// TestRangesHaveAllFillsAndPayouts checks that consecutive ranges have every fill of the venue
// once, and its payouts; that headers form a chain, and that logs name their blocks.
func TestRangesHaveAllFillsAndPayouts(t *testing.T) {
	s, url := startServer(t, Options{MaxRange: 1 << 40, MaxLogs: 1 << 30})
	v := s.Venue()
	s.Clock().Advance(time.Hour)
	from, end := sample.BlockOf(v.Manifest.Start.Unix()), sample.BlockAt(v.Manifest.End)
	d := chain.NewDecoder(chain.Contracts())
	fills, payouts := 0, 0
	for step := (end - from) / 7; from <= end; from += step {
		to := min(from+step-1, end)
		got := ask(t, url+"/rpc", from, to)
		if len(got) != 3 || headerOf(t, got[1]).Number != fmt.Sprintf("0x%x", to) {
			t.Fatalf("got %d answers", len(got))
		}
		for _, raw := range logsOf(t, got[0]) {
			e, err := d.Decode(raw)
			if err != nil || e.Log.Block < from || e.Log.Block > to || e.Log.BlockHash != s.history.hash(e.Log.Block, fork{}) {
				t.Fatalf("err = %v, raw = %s", err, raw)
			}
			switch e.Kind {
			case chain.Filled:
				fills++
			case chain.Resolved:
				payouts++
			}
		}
	}
	if int64(fills) != v.Manifest.Fills || int64(payouts) != v.Manifest.Resolved {
		t.Errorf("%d fills and %d payouts, want %d and %d", fills, payouts, v.Manifest.Fills, v.Manifest.Resolved)
	}
	one, two := ask(t, url+"/rpc", end-1, end-1), ask(t, url+"/rpc", end, end)
	if h := headerOf(t, two[1]); h.ParentHash != headerOf(t, one[1]).Hash || h.Timestamp != fmt.Sprintf("0x%x", sample.BlockTime(end)) {
		t.Errorf("%+v", h)
	}
}

// TestBlocksComeWithTheClock checks that a block exists once the clock has reached its time, and is
// final some blocks later.
func TestBlocksComeWithTheClock(t *testing.T) {
	s, url := startServer(t, Options{Finality: 4})
	latest, final := s.Latest()
	if latest-final != 4 {
		t.Fatalf("%d is final of %d", final, latest)
	}
	got := ask(t, url+"/rpc", final, latest+1)
	if string(got[1].Result) != "null" || headerOf(t, got[2]).Number != fmt.Sprintf("0x%x", final) {
		t.Errorf("got[1].Result = %s, got[2].Result = %s", got[1].Result, got[2].Result)
	}
	s.Clock().Advance(1500 * time.Millisecond)
	if got := ask(t, url+"/rpc", final, latest+1); headerOf(t, got[1]).Number != fmt.Sprintf("0x%x", latest+1) {
		t.Errorf("got[1].Result = %s", got[1].Result)
	}
	for method, want := range map[string]string{"eth_chainId": `"0x89"`, "eth_blockNumber": fmt.Sprintf(`"0x%x"`, latest+1)} {
		_, b := post(t, url+"/rpc", `{"jsonrpc":"2.0","id":"a","method":"`+method+`","params":[]}`)
		if !bytes.Contains(b, []byte(`"id":"a"`)) || !bytes.Contains(b, []byte(`"result":`+want)) {
			t.Errorf("%s: %s", method, b)
		}
	}
}

// TestReceiptHasTheLogsOfItsTransaction checks that it has all of them, and no others.
func TestReceiptHasTheLogsOfItsTransaction(t *testing.T) {
	s, url := startServer(t, Options{})
	v := s.Venue()
	_, b := post(t, url+"/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_getTransactionReceipt","params":["`+v.Tx(5).String()+`"]}`)
	var got struct {
		Result struct {
			BlockNumber string
			Logs        []json.RawMessage
		}
	}
	if err := json.Unmarshal(b, &got); err != nil || len(got.Result.Logs) != v.Matches[5].Fills()+1 ||
		got.Result.BlockNumber != fmt.Sprintf("0x%x", sample.BlockOf(v.Matches[5].At)) {
		t.Errorf("err = %v, b = %s", err, b)
	}
	if _, b := post(t, url+"/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_getTransactionReceipt","params":["0x`+strings.Repeat("1", 64)+`"]}`); !bytes.Contains(b, []byte(`"result":null`)) {
		t.Errorf("%s", b)
	}
}

// TestAnswersAreCompressedWhereAskedFor also checks that compressed responses have the same
// content.
func TestAnswersAreCompressedWhereAskedFor(t *testing.T) {
	s, url := startServer(t, Options{})
	latest, _ := s.Latest()
	body := question(latest-5000, latest)
	_, plain := post(t, url+"/rpc", body)
	for accepted, want := range map[string]string{"gzip": "gzip", "zstd, gzip": "zstd", "gzip, br": "gzip", "br": ""} {
		if got, as := posted(t, url+"/rpc", body, accepted); !bytes.Equal(got, plain) || as != want {
			t.Errorf("%s: %d bytes, want %d, in %q", accepted, len(got), len(plain), as)
		}
	}
}

// posted returns the body of the response to a client that accepts these encodings, and the
// encoding used.
func posted(t testing.TB, url, body, accepted string) (text []byte, as string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", accepted)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	from := io.Reader(res.Body)
	switch as = res.Header.Get("Content-Encoding"); as {
	case "gzip":
		from, err = gzip.NewReader(from)
	case "zstd":
		from, err = zstd.NewReader(from)
	}
	if err != nil {
		t.Fatal(err)
	}
	if text, err = io.ReadAll(from); err != nil {
		t.Fatal(err)
	}
	return text, as
}

// TestTopicsAndAddressesFilter checks that a filter selects only the logs of its addresses and
// topics.
func TestTopicsAndAddressesFilter(t *testing.T) {
	s, url := startServer(t, Options{MaxRange: 1 << 40, MaxLogs: 1 << 30})
	v := s.Venue()
	m := &v.Matches[len(v.Matches)/2]
	rows := v.AppendRows(nil, m)
	wallet := v.Wallet(rows[len(rows)-1].Wallet)
	filter := fmt.Sprintf(`{"fromBlock":"0x%x","toBlock":"0x%x","topics":[null,null,"0x%024d%x"]}`, sample.BlockOf(m.At), sample.BlockOf(m.At), 0, wallet[:])
	_, b := post(t, url+"/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[`+filter+`]}`)
	var got answered
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	list := logsOf(t, got)
	if len(list) == 0 {
		t.Fatal("no logs")
	}
	d := chain.NewDecoder(chain.Contracts())
	for _, raw := range list {
		if e, err := d.Decode(raw); err != nil || e.Kind == chain.Filled && (e.Fill.Maker != wallet || e.Fill.Role != data.Taker) {
			t.Errorf("err = %v, raw = %s", err, raw)
		}
	}
}
