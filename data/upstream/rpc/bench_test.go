package rpc

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pmx/data"
	"pmx/data/chain"
)

// captured is a fill's log as nodes return it, with placeholders for block and index.
const captured = `{"address":"0xe111180000d2663c0091e4f400237545b87b996b","topics":["0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee",` +
	`"0xbfbc54d2a0c2b5b92f572efba77f1c1fa61550d04600fc4f0f1ce420efa08da0","0x000000000000000000000000a253d75c2dfb2c6650291d5e8d54076d2fb40181",` +
	`"0x00000000000000000000000092c9ad93ba0e400ffc8d716edf70a588d246bde3"],"data":"0x` +
	`0000000000000000000000000000000000000000000000000000000000000001cd997ada6ab1e2cc68c6566e5142cdc885a275d4fa5a1e13b3fdccf22a3f2340` +
	`00000000000000000000000000000000000000000000000000000000003fc82000000000000000000000000000000000000000000000000000000000003bf470` +
	`0000000000000000000000000000000000000000000000000000000000000000` + `0000000000000000000000000000000000000000000000000000000000000000` +
	`0000000000000000000000000000000000000000000000000000000000000000","blockNumber":"0x%x",` +
	`"transactionHash":"0x21d27b0fde210ccb5e6480e3f479f342743aa1f854199d57cafab2553d9a516e","transactionIndex":"0x38",` +
	`"blockHash":"0x6fd9b83c01f7d00dec9a7e69fc8427b0b98127e116b02108eeab4cece60ec924","blockTimestamp":"0x6a64696e","logIndex":"0x%x","removed":false}`

const firstBlock = 0x56a1d06

// answerOf is a complete response with n logs, 75 a block.
func answerOf(n int) (body []byte, r *Range) {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(captured, firstBlock+i/75, i))
	}
	logs := "[" + strings.Join(all, ",") + "]"
	r = &Range{From: firstBlock, To: firstBlock + int64(n/75) + 1}
	return []byte(`[{"jsonrpc":"2.0","id":1,"result":` + logs + `},{"jsonrpc":"2.0","id":2,"result":{"number":"0x1"}}]`), r
}

// fillsOf finds the logs of a response, checks them and decodes them: all steps between the network
// and rows.
func fillsOf(d *chain.Decoder, body []byte, r *Range) (fills int, err error) {
	in := &room{body: body, elements: r.room.elements}
	err = answers(in, func(a *answered) error {
		if id, ok := quantity(a.id); ok && id == 1 {
			r.room, r.bytes = room{body, a.elements}, int64(len(a.result))
		}
		return nil
	})
	if err := errors.Join(err, r.check()); err != nil {
		return 0, err
	}
	err = r.EachLog(func(log []byte) error {
		e, err := d.Decode(log)
		if err == nil && e.Kind == chain.Filled {
			fills++
		}
		return err
	})
	return fills, err
}

// TestLogsAreReadWithoutAllocations: a response costs some, a log none.
func TestLogsAreReadWithoutAllocations(t *testing.T) {
	d := chain.NewDecoder(contracts(t))
	few := func(n int) float64 {
		body, r := answerOf(n)
		return testing.AllocsPerRun(5, func() {
			if fills, err := fillsOf(d, body, r); err != nil || fills != n {
				t.Fatal(fills, err)
			}
		})
	}
	if small, large := few(10), few(2000); large != small || small > 20 {
		t.Errorf("%v allocations for 10 logs, %v for 2000", small, large)
	}
}

// BenchmarkLogs reads and decodes the logs of a response of 8 MB.
func BenchmarkLogs(b *testing.B) {
	const n = 7500
	d := chain.NewDecoder(contracts(b))
	body, r := answerOf(n)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if fills, err := fillsOf(d, body, r); err != nil || fills != n {
			b.Fatal(fills, err)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "logs/s")
}

// BenchmarkEachLog only finds the logs.
func BenchmarkEachLog(b *testing.B) {
	body, r := answerOf(7500)
	if _, err := fillsOf(chain.NewDecoder(contracts(b)), body, r); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(r.Bytes())
	b.ReportAllocs()
	for b.Loop() {
		if err := r.EachLog(func([]byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func contracts(t testing.TB) []chain.Contract {
	t.Helper()
	address, err := data.ParseAddress("0xe111180000d2663c0091e4f400237545b87b996b")
	if err != nil {
		t.Fatal(err)
	}
	return []chain.Contract{{Address: address, Kind: chain.ExchangeV2}}
}
