package replay

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"pmx/data"
	"pmx/data/chain/encode"
	"pmx/data/sample"
)

// rpcFaults are the faults of a node.
var rpcFaults = []Kind{
	{Name: "range-publicnode", Of: "rpc", About: "ranges of more blocks are refused as by publicnode", Number: 50_000},
	{Name: "range-quicknode", Of: "rpc", About: "ranges of more blocks are refused as by QuickNode, with status 413", Number: 10_000},
	{Name: "range-alchemy", Of: "rpc", About: "ranges of more blocks are refused as by Alchemy, which names a range that works", Number: 10},
	{Name: "range-drpc", Of: "rpc", About: "ranges of more blocks are refused as by drpc, with status 400", Number: 10_000},
	{Name: "range-ankr", Of: "rpc", About: "ranges of more blocks are refused as by Ankr, which does not name the limit", Number: 3000},
	{Name: "range-infura", Of: "rpc", About: "ranges of more logs are refused as by Infura, which names a range that works", Number: 10_000},
	{Name: "range-geth", Of: "rpc", About: "ranges of more blocks are refused as by geth", Number: 10_000},
	{Name: "range-merkle", Of: "rpc", About: "ranges of more blocks are refused as by merkle, which names thousands of blocks", Number: 10_000},
	{Name: "413", Of: "rpc", About: "ranges of more blocks have status 413 and no JSON", Number: 2000},
	{Name: "batch-limit", Of: "rpc", About: "batches of more calls are refused as by drpc, with status 500", Number: 3},

	{Name: "batch-partial", Of: "rpc", About: "one answer of a batch is missing"},
	{Name: "batch-order", Of: "rpc", About: "the answers of a batch are in another order"},
	{Name: "batch-twice", Of: "rpc", About: "one answer of a batch is repeated"},
	{Name: "batch-foreign", Of: "rpc", About: "one answer of a batch is to a call that was not made"},
	{Name: "batch-null", Of: "rpc", About: "one result of a batch is null"},
	{Name: "batch-error", Of: "rpc", About: "one answer of a batch is an error"},

	{Name: "lagging-node", Of: "rpc", About: "the logs of the last blocks of a range are missing, as from a node that has not seen them yet", Number: 8},
	{Name: "lost-logs", Of: "rpc", About: "one log of this many is missing", Number: 16},
	{Name: "lost-transactions", Of: "rpc", About: "all logs of one transaction of this many are missing", Number: 8},
	{Name: "empty-range", Of: "rpc", About: "no logs at all"},
	{Name: "other-fork", Of: "rpc", About: "the logs of the last block of a range are those of another block with the same number"},
	{Name: "no-header", Of: "rpc", About: "every block is null"},
	{Name: "no-finalized", Of: "rpc", About: "the block name finalized is not supported"},
	{Name: "finalized-back", Of: "rpc", About: "the newest final block goes back by this many", Number: 64},
	{Name: "reorg", Of: "rpc", About: "up to this many blocks that are not final are replaced", Number: 64},

	{Name: "log-twice", Of: "rpc", About: "one log of this many is repeated", Number: 8},
	{Name: "log-removed", Of: "rpc", About: "one log of this many is repeated as removed, with another block", Number: 8},
	{Name: "no-block-time", Of: "rpc", About: "logs do not have the time of their block"},
	{Name: "mixed-case", Of: "rpc", About: "addresses have letters of mixed case"},
	{Name: "unknown-topics", Of: "rpc", About: "logs of unknown topics that were not requested"},
	{Name: "unknown-module", Of: "rpc", About: "fills of tokens of a fourth module, a match in every block with logs of this many", Number: 16, Adds: true},
}

// responder returns the current state of the node.
func (s *Server) responder(f *Fault) *responder {
	v := &responder{Server: s, fault: f}
	v.latest, v.finalized = s.Latest()
	switch {
	case f.is("finalized-back"):
		v.finalized -= f.Number
	case f.is("reorg"):
		v.fork = fork{from: max(v.finalized+1, v.latest-f.Number+1), number: 1 + f.rng.Uint64N(1<<20)}
	}
	return v
}

// refuses reports whether the node answers none of the calls: then the status is not 0. Without a
// refusal the body is text, not JSON.
func (v *responder) refuses(calls []call, batch bool) (status int, no *refusal) {
	switch {
	case !batch:
	case v.fault.is("batch-limit") && int64(len(calls)) > v.fault.Number:
		return http.StatusInternalServerError, &refusal{Code: 31, Message: fmt.Sprintf("Batch of more than %d requests are not allowed on free plan", v.fault.Number)}
	}
	if !v.fault.is("413") {
		return 0, nil
	}
	for i := range calls {
		if calls[i].Method != "eth_getLogs" {
			continue
		}
		if q, no := v.readFilter(&calls[i]); no == nil && q.to-q.from+1 > v.fault.Number {
			return http.StatusRequestEntityTooLarge, nil
		}
	}
	return 0, nil
}

// tooWide refuses a range with more blocks or logs than the node allows.
func (v *responder) tooWide(q *filter) *refusal {
	width := q.to - q.from + 1
	if f := v.fault; f != nil && f.Name == "range-infura" {
		if no := v.tooMany(q, int(f.Number)); no != nil {
			return no
		}
	} else if f != nil && width > f.Number {
		if no := f.refusal(q); no != nil {
			return no
		}
	}
	if width > v.options.MaxRange {
		return invalid("exceed maximum block range %d", v.options.MaxRange)
	}
	return v.tooMany(q, v.options.MaxLogs)
}

// refusal returns the error of a node for a range with too many blocks; nil if the fault is another
// one.
func (f *Fault) refusal(q *filter) *refusal {
	switch f.Name {
	case "range-publicnode":
		return &refusal{Code: -32701, Message: fmt.Sprintf("exceed maximum block range: %d", f.Number)}
	case "range-quicknode":
		return &refusal{Code: -32614, Message: fmt.Sprintf("eth_getLogs is limited to a %s range", thousands(f.Number)), status: http.StatusRequestEntityTooLarge}
	case "range-alchemy":
		return &refusal{Code: -32600, status: http.StatusBadRequest, Message: fmt.Sprintf("Under the Free tier plan, you can make eth_getLogs requests with up to a %d block range. "+
			"Based on your parameters, this block range should work: [0x%x, 0x%x].", f.Number, q.from, q.from+max(f.Number, 1)-1)}
	case "range-drpc":
		return &refusal{Code: 35, Message: fmt.Sprintf("ranges over %d blocks are not supported on free plan", f.Number), status: http.StatusBadRequest}
	case "range-ankr":
		return &refusal{Code: -32600, Message: "block range is too wide"}
	case "range-geth":
		return invalid("exceed maximum block range %d", f.Number)
	case "range-merkle":
		return invalid("eth_getLogs range is too large, max is %dk blocks", max(f.Number/1000, 1))
	}
	return nil
}

// thousands formats a number with commas: 10,000.
func thousands(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// tooMany refuses a range with too many logs, and names one with at most half as many.
func (v *responder) tooMany(q *filter, most int) *refusal {
	if v.history.count(q.from, min(q.to, v.latest), &q.takes) <= most || q.from == q.to {
		return nil
	}
	to := q.to
	for to > q.from && v.history.count(q.from, to, &q.takes) > most/2 {
		to = q.from + (to-q.from)/2
	}
	return &refusal{Code: -32005, Message: fmt.Sprintf("query returned more than %d results. Try with this block range [0x%X, 0x%X].", most, q.from, to),
		Data: map[string]any{"from": fmt.Sprintf("0x%x", q.from), "to": fmt.Sprintf("0x%x", to), "limit": most}}
}

// shuffled applies the fault to the answers to a batch.
func (v *responder) shuffled(list []reply) []reply {
	f := v.fault
	if f == nil {
		return list
	}
	i := f.rng.IntN(len(list))
	switch f.Name {
	case "batch-partial":
		return slices.Delete(list, i, i+1)
	case "batch-order":
		slices.Reverse(list)
	case "batch-twice":
		return append(list, list[i])
	case "batch-foreign":
		list = append(list, list[i])
		list[len(list)-1].id = json.RawMessage("987654321")
	case "batch-null":
		list[i] = reply{id: list[i].id, write: text("null")}
	case "batch-error":
		list[i] = reply{id: list[i].id, refusal: &refusal{Code: -32000, Message: "header not found"}}
	}
	return list
}

// lie applies the fault to a range: it returns the function that handles the logs, and the last
// block.
func (v *responder) lie(q *filter, to int64, put func(*encode.Log) error) (func(*encode.Log) error, int64) {
	f := v.fault
	every := func() bool { return f.rng.Int64N(max(f.Number, 1)) == 0 }
	switch f.Name {
	case "lagging-node":
		return put, to - f.Number
	case "empty-range":
		return put, q.from - 1
	case "lost-logs":
		return func(l *encode.Log) error {
			if every() {
				return nil
			}
			return put(l)
		}, to
	case "lost-transactions":
		lost := uint64(f.rng.Int64N(max(f.Number, 1)))
		return func(l *encode.Log) error {
			if binary.BigEndian.Uint64(l.Tx[:])%uint64(max(f.Number, 1)) == lost {
				return nil
			}
			return put(l)
		}, to
	case "other-fork":
		return func(l *encode.Log) error {
			if l.Block == to {
				l.BlockHash = v.history.hash(l.Block, fork{from: l.Block, number: 1})
			}
			return put(l)
		}, to
	case "log-twice":
		return doubled(put, every, func(*encode.Log) {}), to
	case "log-removed":
		return doubled(put, every, func(l *encode.Log) {
			l.Removed, l.BlockHash = true, v.history.hash(l.Block, fork{from: l.Block, number: 2})
		}), to
	case "no-block-time":
		return func(l *encode.Log) error {
			at := l.Time
			l.Time = 0
			defer func() { l.Time = at }()
			return put(l)
		}, to
	case "unknown-topics":
		return doubled(put, every, func(l *encode.Log) {
			l.Topics, l.Words, l.Index = []data.Hash{v.venue.Random(forFault, uint64(l.Block))}, nil, l.Index+1<<20
		}), to
	case "unknown-module":
		return v.fourth(put), to
	}
	return put, to
}

// doubled puts every log, and after some of them a changed copy.
func doubled(put func(*encode.Log) error, every func() bool, change func(*encode.Log)) func(*encode.Log) error {
	return func(l *encode.Log) error {
		if err := put(l); err != nil || !every() {
			return err
		}
		other := *l
		change(&other)
		return put(&other)
	}
}

// fourth adds a match of a token of a fourth module after the first log of some blocks. The same
// blocks always have the same matches.
func (v *responder) fourth(put func(*encode.Log) error) func(*encode.Log) error {
	last := int64(-1)
	return func(l *encode.Log) error {
		if err := put(l); err != nil || l.Block == last || l.Block%max(v.fault.Number, 1) != 0 {
			return err
		}
		last = l.Block
		return v.oddMatch(put, l)
	}
}

func (v *responder) oddMatch(put func(*encode.Log) error, beside *encode.Log) error {
	h := v.history
	n := uint64(beside.Block)
	token := v.venue.Random(forFault, n)
	token[0], token[31] = 4, 0
	other := *beside
	other.Topics, other.Words = nil, nil
	other.Address, other.Tx = h.emitters[third].address, v.venue.Random(forFault, n<<1|1<<62)
	f := encode.Fill{Order: v.venue.Random(forFault, n<<1|1<<61), Maker: v.venue.Wallet(0), Taker: v.venue.Wallet(1), Token: token, Shares: 5_000_000, USD: 2_000_000}
	other.Index += 1 << 21
	other.FilledV2(&f)
	if err := put(&other); err != nil {
		return err
	}
	f.Order[0], f.Maker, f.Taker, f.Buy = ^f.Order[0], f.Taker, other.Address, true
	other.Index++
	other.FilledV2(&f)
	return put(&other)
}

// mix changes letters of the log's address to upper case.
func (f *Fault) mix(log []byte) {
	const before, digits = len(`{"address":"0x`), 40
	for i := before; i < before+digits; i++ {
		if log[i] >= 'a' && f.rng.IntN(2) == 0 {
			log[i] -= 'a' - 'A'
		}
	}
}

// FinalTime returns the time of the newest final block in Unix seconds.
func (s *Server) FinalTime() int64 {
	_, final := s.Latest()
	return sample.BlockTime(final)
}
