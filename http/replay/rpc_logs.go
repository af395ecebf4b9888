package replay

import (
	"encoding/json"
	"slices"

	"pmx/data"
	"pmx/data/chain/encode"
	"pmx/data/sample"
)

// filter is the parameter of eth_getLogs.
type filter struct {
	from, to  int64
	addresses []data.Address // none: all
	topics    [][]data.Hash  // by position; none: any
	takes     [kinds]bool
}

// readFilter parses the parameter of eth_getLogs.
func (v *responder) readFilter(c *call) (*filter, *refusal) {
	var q struct {
		FromBlock, ToBlock, BlockHash json.RawMessage
		Address                       json.RawMessage
		Topics                        []json.RawMessage
	}
	if len(c.Params) == 0 {
		return nil, invalid("missing value for required argument 0")
	}
	if err := json.Unmarshal(c.Params[0], &q); err != nil {
		return nil, invalid("invalid argument 0: %v", err)
	}
	if q.BlockHash != nil {
		return nil, invalid("a filter by block hash is not answered here")
	}
	if len(q.Topics) > 4 {
		return nil, invalid("exceed max topics")
	}
	f := &filter{}
	var no *refusal
	for _, e := range []struct {
		raw json.RawMessage
		n   *int64
	}{{q.FromBlock, &f.from}, {q.ToBlock, &f.to}} {
		*e.n = v.latest
		if e.raw != nil {
			if *e.n, _, no = v.number(e.raw); no != nil {
				return nil, no
			}
		}
	}
	if f.from > f.to {
		return nil, invalid("invalid block range params")
	}
	var err error
	if f.addresses, err = values(q.Address, data.ParseAddress); err != nil {
		return nil, invalid("invalid argument 0: %v", err)
	}
	for _, raw := range q.Topics {
		list, err := values(raw, data.ParseHash)
		if err != nil {
			return nil, invalid("invalid argument 0: %v", err)
		}
		f.topics = append(f.topics, list)
	}
	for k, e := range v.history.emitters {
		f.takes[k] = has(f.addresses, e.address) && (len(f.topics) == 0 || has(f.topics[0], e.topic))
	}
	return f, nil
}

func has[T comparable](list []T, v T) bool { return len(list) == 0 || slices.Contains(list, v) }

// values parses a value, a list of them, or null.
func values[T any](raw json.RawMessage, parse func(string) (T, error)) (list []T, err error) {
	var texts []string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case raw[0] == '[':
		err = json.Unmarshal(raw, &texts)
	default:
		texts = make([]string, 1)
		err = json.Unmarshal(raw, &texts[0])
	}
	for _, t := range texts {
		v, wrong := parse(t)
		if wrong != nil {
			return nil, wrong
		}
		list = append(list, v)
	}
	return list, err
}

// further reports whether a log matches the topics after the first.
func (f *filter) further(l *encode.Log) bool {
	for i := 1; i < len(f.topics); i++ {
		if len(f.topics[i]) > 0 && (i >= len(l.Topics) || !slices.Contains(f.topics[i], l.Topics[i])) {
			return false
		}
	}
	return true
}

func (v *responder) logs(c *call) (func(*stream) error, *refusal) {
	q, no := v.readFilter(c)
	if no != nil {
		return nil, no
	}
	if no := v.tooWide(q); no != nil {
		return nil, no
	}
	return func(out *stream) error { return v.writeLogs(out, q) }, nil
}

// writeLogs writes the logs of a range, with the fault applied.
func (v *responder) writeLogs(out *stream, q *filter) error {
	out.b = append(out.b, '[')
	first := true
	put := func(l *encode.Log) error {
		if !first {
			out.b = append(out.b, ',')
		}
		first = false
		at := len(out.b)
		out.b = l.AppendJSON(out.b)
		if v.fault.is("mixed-case") {
			v.fault.mix(out.b[at:])
		}
		return out.more()
	}
	s := scan{history: v.history, fork: v.fork, takes: &q.takes, emit: put}
	if len(q.topics) > 1 {
		s.emit = func(l *encode.Log) error {
			if !q.further(l) {
				return nil
			}
			return put(l)
		}
	}
	to := min(q.to, v.latest)
	if v.fault != nil {
		s.emit, to = v.lie(q, to, s.emit)
	}
	run := s.run
	if v.kept.serves(v, q, out) {
		run = func(from, to int64) error {
			return v.kept.run(&s, out, func() bool { return !first }, from, to)
		}
	}
	if err := run(q.from, to); err != nil {
		return err
	}
	out.b = append(out.b, ']')
	return nil
}

// blockOf returns the block of a transaction of the venue.
func (h *history) blockOf(tx data.Hash) (int64, bool) {
	h.byTx.Do(func() {
		h.txs = make(map[data.Hash]int64, len(h.venue.Matches)+len(h.paid))
		for i := range h.venue.Matches {
			h.txs[h.venue.Tx(i)] = sample.BlockOf(h.venue.Matches[i].At)
		}
		for _, m := range h.paid {
			h.txs[h.venue.Random(forPayout, uint64(m))] = sample.BlockOf(h.venue.Markets[m].Paid)
		}
	})
	n, ok := h.txs[tx]
	return n, ok
}
