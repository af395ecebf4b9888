package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"pmx/data/chain"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/rpc"
)

// logsShape is the log of a fill in the format of nodes, for a block and an index.
const logsShape = `{"address":%q,"topics":["0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee",` +
	`"0xbfbc54d2a0c2b5b92f572efba77f1c1fa61550d04600fc4f0f1ce420efa08da0","0x000000000000000000000000a253d75c2dfb2c6650291d5e8d54076d2fb40181",` +
	`"0x00000000000000000000000092c9ad93ba0e400ffc8d716edf70a588d246bde3"],"data":"0x` +
	`0000000000000000000000000000000000000000000000000000000000000001cd997ada6ab1e2cc68c6566e5142cdc885a275d4fa5a1e13b3fdccf22a3f2340` +
	`00000000000000000000000000000000000000000000000000000000003fc82000000000000000000000000000000000000000000000000000000000003bf470%0192x",` +
	`"blockNumber":"0x%x","transactionHash":"0x21d27b0fde210ccb5e6480e3f479f342743aa1f854199d57cafab2553d9a516e","transactionIndex":"0x38",` +
	`"blockHash":"0x6fd9b83c01f7d00dec9a7e69fc8427b0b98127e116b02108eeab4cece60ec924","blockTimestamp":"0x6a64696e","logIndex":"0x%x","removed":false}`

// The number of logs in a response, which has 8 MB, their first block, and the number of measured
// responses.
const (
	logsOfAnswer = 7500
	logsOfBlock  = 75
	logsFrom     = 90_840_326
	logsAnswers  = 100
)

// logs measures the cost of turning the bytes of a node's response into fills: the body is read
// from memory, checked, and every log decoded, on one thread. The baseline is what the standard
// library needs just to split the logs. Each is the fastest of many runs: a response takes a few
// milliseconds, which will sometimes not be disturbed by other programs.
func (b *bench) logs() error {
	contract := exchangeV2()
	result := logsResult(contract)
	h, err := fetch.New(fetch.Options{
		Name: "bench", Base: "http://node.invalid", Contact: "bench@example.org", Transport: logsNode(result),
		Budget: fetch.Budget{PerSecond: 1e9, Burst: 1e6, InFlight: 1},
	})
	if err != nil {
		return err
	}
	c, d := rpc.New(h), chain.NewDecoder([]chain.Contract{contract})
	ours, err := quickest(func() error { return decodeLogs(b.ctx, c, d) })
	if err != nil {
		return err
	}
	floor, err := quickest(func() error {
		var list []json.RawMessage
		return json.Unmarshal([]byte(result), &list)
	})
	if err != nil {
		return err
	}
	b.add("decode the logs of a node's response to fills, one core", perSecond(logsOfAnswer, ours), "encoding/json, only to split them "+perSecond(logsOfAnswer, floor),
		ratio(floor.Seconds(), ours.Seconds()), "≥ 200k/s")
	return nil
}

// quickest returns the shortest time that f took.
func quickest(f func() error) (time.Duration, error) {
	least := time.Hour
	for range logsAnswers {
		d, err := timed(f)
		if err != nil {
			return 0, err
		}
		least = min(least, d)
	}
	return least, nil
}

func exchangeV2() chain.Contract {
	for _, c := range chain.Contracts() {
		if c.Kind == chain.ExchangeV2 && c.FromBlock < logsFrom {
			return c
		}
	}
	panic("the venue's contracts have no exchange of this kind")
}

func logsResult(c chain.Contract) string {
	var all strings.Builder
	for i := range logsOfAnswer {
		_, _ = fmt.Fprintf(&all, ","+logsShape, c.Address.String(), 0, logsFrom+i/logsOfBlock, i)
	}
	return "[" + all.String()[1:] + "]"
}

// decodeLogs requests logs once and decodes them.
func decodeLogs(ctx context.Context, c *rpc.Client, d *chain.Decoder) error {
	r, err := c.Logs(ctx, logsFrom, logsFrom+logsOfAnswer/logsOfBlock, nil, nil)
	if err != nil {
		return err
	}
	defer r.Release()
	fills := 0
	err = r.EachLog(func(log []byte) error {
		e, err := d.Decode(log)
		if err == nil && e.Kind == chain.Filled {
			fills++
		}
		return err
	})
	if err == nil && fills != logsOfAnswer {
		err = fmt.Errorf("%d fills of %d", fills, logsOfAnswer)
	}
	return err
}

// logsNode is a node whose only response is in memory.
type logsNode string

// RoundTrip answers the calls of a body.
func (n logsNode) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var calls []struct {
		ID     int64
		Method string
		Params []any
	}
	single := body[0] == '{'
	if single {
		body = []byte("[" + string(body) + "]")
	}
	if err := json.Unmarshal(body, &calls); err != nil {
		return nil, err
	}
	var answers []string
	for _, c := range calls {
		result := `"0x89"`
		switch c.Method {
		case "eth_getLogs":
			result = string(n)
		case "eth_getBlockByNumber":
			number := c.Params[0]
			if number == "finalized" {
				number = fmt.Sprintf("0x%x", logsFrom*2)
			}
			result = fmt.Sprintf(`{"number":%q,"hash":"0x%064x","parentHash":"0x%064x","timestamp":"0x6a64696e"}`, number, 2, 1)
		}
		answers = append(answers, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, c.ID, result))
	}
	text := strings.Join(answers, ",")
	if !single {
		text = "[" + text + "]"
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(text)),
		Body: io.NopCloser(bytes.NewReader([]byte(text))), Request: r,
	}, nil
}
