package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/data/chain/encode"
	"pmx/data/sample"
)

// mostCall is the maximum size of a request, and mostCalls the maximum number of calls in a batch.
const (
	mostCall  = 1 << 20
	mostCalls = 1000
)

// call is one JSON-RPC request.
type call struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Params []json.RawMessage `json:"params"`
}

// responder is the state of a node while it answers one request.
type responder struct {
	*Server
	latest, finalized int64
	fork              fork
	fault             *Fault
}

// reply is the answer to one call. write writes the result; if refusal is not nil, it is sent
// instead.
type reply struct {
	id      json.RawMessage
	write   func(out *stream) error
	refusal *refusal
}

// refusal is a JSON-RPC error and its HTTP status.
type refusal struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data,omitempty"`
	status  int
}

func invalid(format string, args ...any) *refusal {
	return &refusal{Code: -32602, Message: fmt.Sprintf(format, args...)}
}

func (s *Server) rpc(w http.ResponseWriter, r *http.Request) {
	name := "rpc"
	if own := r.PathValue("name"); own != "" {
		name += "/" + own
	}
	s.serve(w, r, name, s.answerCalls)
}

func (s *Server) answerCalls(w http.ResponseWriter, r *http.Request, f *Fault) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostCall))
	if err != nil {
		http.Error(w, "request too large", http.StatusRequestEntityTooLarge)
		return
	}
	calls, batch, err := readCalls(body)
	w.Header().Set("Content-Type", "application/json")
	out := newStream(w, r)
	defer out.close()
	if err != nil {
		out.refuse(reply{id: json.RawMessage("null"), refusal: &refusal{Code: -32700, Message: err.Error()}})
		return
	}
	v := s.responder(f)
	if status, no := v.refuses(calls, batch); status != 0 {
		if no == nil {
			w.Header().Set("Content-Type", "text/plain")
		}
		w.WriteHeader(status)
		if no == nil {
			out.b = append(out.b, http.StatusText(status)...)
			return
		}
		out.refuse(reply{id: calls[0].ID, refusal: no})
		return
	}
	replies := make([]reply, len(calls))
	for i := range calls {
		replies[i] = v.answer(&calls[i])
	}
	if batch {
		replies = v.shuffled(replies)
	} else if no := replies[0].refusal; no != nil && no.status != 0 {
		w.WriteHeader(no.status)
	}
	out.replies(replies, batch)
}

func readCalls(body []byte) (calls []call, batch bool, err error) {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' {
		err = json.Unmarshal(body, &calls)
		batch = true
	} else {
		calls = make([]call, 1)
		err = json.Unmarshal(body, &calls[0])
	}
	switch {
	case err != nil:
		return nil, batch, fmt.Errorf("parse error: %w", err)
	case len(calls) == 0 || len(calls) > mostCalls:
		return nil, batch, fmt.Errorf("a batch of %d calls: 1 to %d are answered", len(calls), mostCalls)
	}
	return calls, batch, nil
}

// replies writes the answers, as a list if they are to a batch.
func (s *stream) replies(list []reply, batch bool) {
	if batch {
		s.b = append(s.b, '[')
	}
	for i, p := range list {
		if i > 0 {
			s.b = append(s.b, ',')
		}
		if p.refusal != nil {
			s.refuse(p)
			continue
		}
		s.b = append(append(s.b, `{"jsonrpc":"2.0","id":`...), p.id...)
		s.b = append(s.b, `,"result":`...)
		if err := p.write(s); err != nil {
			return // the caller has disconnected
		}
		s.b = append(s.b, '}')
	}
	if batch {
		s.b = append(s.b, ']')
	}
}

func (s *stream) refuse(p reply) {
	text, err := json.Marshal(p.refusal)
	if err != nil {
		text = []byte(`{"code":-32603,"message":"internal error"}`)
	}
	s.b = append(append(s.b, `{"jsonrpc":"2.0","id":`...), p.id...)
	s.b = append(append(append(s.b, `,"error":`...), text...), '}')
}

// text returns a result that is already encoded.
func text(s string) func(*stream) error {
	return func(out *stream) error {
		out.b = append(out.b, s...)
		return nil
	}
}

func quantity(n int64) string { return string(encode.AppendQuantity(nil, n)) }

func (v *responder) answer(c *call) reply {
	p := reply{id: c.ID}
	if p.id == nil {
		p.id = json.RawMessage("null")
	}
	switch c.Method {
	case "eth_chainId":
		p.write = text(quantity(137))
	case "net_version":
		p.write = text(`"137"`)
	case "eth_blockNumber":
		p.write = text(quantity(v.latest))
	case "eth_getBlockByNumber":
		p.write, p.refusal = v.block(c)
	case "eth_getLogs":
		p.write, p.refusal = v.logs(c)
	case "eth_getTransactionReceipt":
		p.write, p.refusal = v.receipt(c)
	default:
		p.refusal = &refusal{Code: -32601, Message: fmt.Sprintf("the method %s does not exist/is not available", c.Method)}
	}
	return p
}

// number parses a block's number or name; known is false if there is no such block yet.
func (v *responder) number(raw json.RawMessage) (n int64, known bool, no *refusal) {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return 0, false, invalid("invalid argument 0: %v", err)
	}
	switch s {
	case "latest", "pending", "":
		return v.latest, true, nil
	case "finalized", "safe":
		if v.fault.is("no-finalized") {
			return 0, false, invalid("invalid argument 0: hex string without 0x prefix")
		}
		return v.finalized, true, nil
	case "earliest":
		return 0, true, nil
	}
	digits, ok := strings.CutPrefix(s, "0x")
	n, err := strconv.ParseInt(digits, 16, 64)
	if !ok || err != nil || n < 0 {
		return 0, false, invalid("invalid argument 0: %q is no block", s)
	}
	return n, n <= v.latest, nil
}

func (v *responder) block(c *call) (func(*stream) error, *refusal) {
	if len(c.Params) == 0 {
		return nil, invalid("missing value for required argument 0")
	}
	n, known, no := v.number(c.Params[0])
	if no != nil {
		return nil, no
	}
	if !known || v.fault.is("no-header") {
		return text("null"), nil
	}
	return func(out *stream) error { return v.header(out, n) }, nil
}

// header writes a block as nodes do, with the hashes of its transactions.
func (v *responder) header(out *stream, n int64) error {
	h := v.history
	hash, parent := h.hash(n, v.fork), h.hash(n-1, v.fork)
	out.b = encode.AppendQuantity(append(out.b, `{"number":`...), n)
	out.b = hash.Append(append(out.b, `,"hash":"`...))
	out.b = parent.Append(append(out.b, `","parentHash":"`...))
	out.b = append(out.b, `","nonce":"0x0000000000000000","sha3Uncles":"0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347","logsBloom":"0x`...)
	out.b = append(out.b, strings.Repeat("0", 512)...)
	state := h.venue.Random(forFault, uint64(n))
	out.b = state.Append(append(out.b, `","stateRoot":"`...))
	out.b = append(out.b, `","miner":"0x0000000000000000000000000000000000000000","difficulty":"0x1","extraData":"0x`...)
	out.b = append(out.b, strings.Repeat("d6", 97)...) // longer than 32 bytes, as on all chains with signed blocks
	out.b = append(out.b, `","size":"0x1f4","gasLimit":"0x3938700","gasUsed":"0x1c9c380","baseFeePerGas":"0x6fc23ac00","timestamp":`...)
	out.b = encode.AppendQuantity(out.b, sample.BlockTime(n))
	out.b = append(out.b, `,"transactions":[`...)
	last, first := data.Hash{}, true
	s := scan{history: h, fork: v.fork, emit: func(l *encode.Log) error {
		if l.Tx == last {
			return nil
		}
		if !first {
			out.b = append(out.b, ',')
		}
		last, first = l.Tx, false
		out.b = append(l.Tx.Append(append(out.b, '"')), '"')
		return nil
	}}
	if err := s.run(n, n); err != nil {
		return err
	}
	out.b = append(out.b, `],"uncles":[]}`...)
	return nil
}

func (v *responder) receipt(c *call) (func(*stream) error, *refusal) {
	var hash string
	if len(c.Params) == 0 || json.Unmarshal(c.Params[0], &hash) != nil {
		return nil, invalid("missing value for required argument 0")
	}
	tx, err := data.ParseHash(hash)
	if err != nil {
		return nil, invalid("invalid argument 0: %v", err)
	}
	n, ok := v.history.blockOf(tx)
	if !ok || n > v.latest {
		return text("null"), nil
	}
	return func(out *stream) error {
		out.b = tx.Append(append(out.b, `{"status":"0x1","type":"0x2","transactionHash":"`...))
		hash := v.history.hash(n, v.fork)
		out.b = hash.Append(append(out.b, `","blockHash":"`...))
		out.b = encode.AppendQuantity(append(out.b, `","blockNumber":`...), n)
		out.b = append(out.b, `,"logs":[`...)
		first := true
		s := scan{history: v.history, fork: v.fork, emit: func(l *encode.Log) error {
			if l.Tx != tx {
				return nil
			}
			if !first {
				out.b = append(out.b, ',')
			}
			first = false
			out.b = l.AppendJSON(out.b)
			return nil
		}}
		if err := s.run(n, n); err != nil {
			return err
		}
		out.b = append(out.b, `]}`...)
		return nil
	}, nil
}
