// Package polygon reads logs of the venue's contracts on Polygon as nodes return them: fills with
// fees after refunds, positions of protocol V2, and payouts.
package polygon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"time"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/feeds/shape"
	"pmx/data/feeds/spill"
)

// Feeds returns the feed of this package.
func Feeds() []data.Feed {
	return []data.Feed{{
		Name:     "polygon-logs",
		About:    "responses of eth_getLogs of Polygon: one, a batch, an array or NDJSON of logs with address, topics, data, transactionHash, logIndex",
		Rule:     "a fill is one log of a transaction, identified by its log index",
		Kind:     data.KindFills,
		Identity: data.KeepRepeats,
		Formats:  []data.Format{data.JSON, data.NDJSON},
		Match:    isLogs,
		Read:     read,
	}}
}

// isLogs recognises a log by its keys. The first response of a batch may be an error, or have no
// logs: then there must be logs later in the head.
func isLogs(h data.Head) bool {
	for _, p := range []string{"", "result[]."} {
		if shape.HasKeys(h, p+"address", p+"topics", p+"data", p+"transactionHash") {
			return true
		}
	}
	return shape.HasKeys(h, "jsonrpc") && bytes.Contains(h.Bytes, []byte(`"topics"`))
}

// reader processes the logs of a file in chain order, whatever their order in the file, because a
// fill and the refund of its fee are in different logs.
type reader struct {
	sink    data.Sink
	decoder *chain.Decoder
	entries *spill.Sorter
	key     []byte
	value   []byte
	text    []byte // of a token id
	texts   map[data.Hash]string
	mapped  shape.RecentSet
	rows    [][]entry // memory for the rows of a transaction
	aside   bool      // a log of the current record was spilled
	// refunded is the first block of a fee module.
	refunded int64
}

// lines is a sink that also counts the records whose rows come later.
type lines struct {
	data.Sink
	r *reader
}

// Lines counts lines by kind.
func (l *lines) Lines(kind data.LineKind, n int64) error {
	if kind == data.LineRecord && l.r.aside {
		l.r.aside, kind = false, data.LineLater
	}
	return l.Sink.Lines(kind, n)
}

func read(ctx context.Context, src data.Source, in io.Reader, sink data.Sink) (err error) {
	contracts := chain.Contracts()
	r := reader{sink: sink, decoder: chain.NewDecoder(contracts), entries: spill.New(src.Spill, src.Memory), refunded: refundedSince(contracts)}
	defer func() { err = errors.Join(err, r.entries.Close()) }()
	rd := shape.Reading{Lists: []string{result}, Sink: &lines{sink, &r}, NoList: r.noLogs}
	if err := rd.Each(ctx, src, in, func(line int64, raw json.RawMessage) error { return r.record(line, raw) }); err != nil {
		return err
	}
	return r.eachBlock(ctx)
}

// refundedSince is the first block of a fee module.
func refundedSince(contracts []chain.Contract) int64 {
	first := int64(math.MaxInt64)
	for _, c := range contracts {
		if c.Kind == chain.FeeModule {
			first = min(first, c.FromBlock)
		}
	}
	return first
}

// result is the key of a response's logs.
const result = "result"

// record reads a log, or a response within a batch.
func (r *reader) record(line int64, raw []byte) error {
	e, err := r.decoder.Decode(raw)
	if !errors.Is(err, chain.BadLog) {
		return r.log(line, raw, e, err)
	}
	there, list, err := chain.Members(raw, result, func(element []byte) error {
		e, err := r.decoder.Decode(element)
		return r.log(line, element, e, err)
	})
	if err != nil || list {
		return err
	}
	refused, _, _ := chain.Members(raw, "error", func([]byte) error { return nil })
	switch {
	case refused:
		return shape.Reject(r.sink, line, raw, shape.Known("source_error"))
	case there:
		return r.noLogs(line)
	}
	return shape.Reject(r.sink, line, raw, shape.Known(string(chain.BadLog)))
}

// noLogs counts a response to a request that was not for logs.
func (r *reader) noLogs(line int64) error { return r.sink.Pass(line, "no_logs") }

func (r *reader) log(line int64, raw []byte, e *chain.Event, err error) error {
	var fault chain.Fault
	switch {
	case errors.As(err, &fault):
		return shape.Reject(r.sink, line, raw, shape.Known(string(fault)))
	case err != nil:
		return err
	case e.Kind == chain.PassedOver:
		return r.sink.Pass(line, data.Passed(e.Why))
	}
	if err := check(e); err != nil {
		return shape.Reject(r.sink, line, raw, err)
	}
	return r.put(line, e)
}

// second is one in microseconds.
const second = 1_000_000

// check returns why a decoded event is not valid for the venue.
func check(e *chain.Event) error {
	if t := e.Log.Time; t != 0 && (t > shape.LastMicro/second || t < shape.FirstMicro/second) {
		return shape.Known("bad_time")
	}
	if e.Kind != chain.Filled {
		return nil
	}
	return shape.Check(data.Fill{TokenID: "0", Shares: e.Fill.Shares, USD: e.Fill.USD})
}

// mostTexts is the maximum number of token texts that are kept. Many of a day's fills are of the
// same few tokens.
const mostTexts = 1 << 14

// tokenID is the decimal text of a token.
func (r *reader) tokenID(token data.Hash) string {
	if text, ok := r.texts[token]; ok {
		return text
	}
	if len(r.texts) >= mostTexts || r.texts == nil {
		r.texts = map[data.Hash]string{}
	}
	r.text = chain.AppendDecimal(r.text[:0], token)
	text := string(r.text)
	r.texts[token] = text
	return text
}

// fill passes on a fill in a block of the given time.
func (r *reader) fill(e *entry, at int64) error {
	f := data.Fill{Tx: e.tx, LogIndex: e.index, Block: e.block, TS: at * second, Wallet: e.Maker, Role: e.Role, TokenID: r.tokenID(e.Token), Side: e.Side,
		Shares: e.Shares, USD: e.USD, Fee: e.Fee, Outcome: data.NoIndex}
	if e.FeeIn == chain.Dollars {
		f.Fee = data.DollarFee(e.Side, e.Fee)
	}
	if !e.Condition.IsZero() && r.mapped.Add(f.TokenID) {
		err := r.sink.Token(e.Line, data.TokenRef{TokenID: f.TokenID, Condition: e.Condition, Outcome: int(e.Outcome)})
		if err != nil {
			return err
		}
	}
	return r.sink.Fill(e.Line, f)
}

// payouts passes on the payouts of a condition.
func (r *reader) payouts(e *entry, at int64) error {
	out := data.Resolution{Condition: e.Condition, Payouts: e.paid, Source: data.ResolvedOnChain}
	if e.Derived {
		out.Source = data.ResolvedDerived
	}
	if at != 0 {
		out.ResolvedAt = time.Unix(at, 0).UTC()
	}
	return r.sink.Resolution(e.Line, out)
}
