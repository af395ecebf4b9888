package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pmx/data/chain"
	"pmx/data/upstream/fetch"
)

// call is one method with its parameters.
type call struct {
	method string
	params []any
	listed bool // a result of null does not count as an answer
	large  bool // its result is large: reuse a buffer
}

// room has the buffers of a response.
type room struct {
	body     []byte
	elements []element // elements of results that are arrays
}

// room returns an unused room, or a new one.
func (c *Client) room() *room {
	if r, ok := c.rooms.Get().(*room); ok {
		return r
	}
	return &room{}
}

// give returns a room that is no longer used.
func (c *Client) give(r room) { c.rooms.Put(&r) }

// reply is the reply to a call.
type reply struct {
	result   []byte    // JSON; may be null
	elements []element // elements of a result that is an array
	room     *room     // that contains result and elements
	err      *Error
	sent     int // number of the request that was answered
	tries    int
}

func (r *reply) there() bool { return r.result != nil || r.err != nil }

func (r *reply) null() bool { return string(r.result) == "null" }

// envelope is the JSON-RPC object of a call.
type envelope struct {
	Version string `json:"jsonrpc"`
	ID      int64  `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

// ask sends all calls in as few requests as the provider accepts, and repeats those that were left
// unanswered. Errors of a call are in its reply; NotAnswered is for calls without a reply at the
// end. Calls with temporary errors are repeated later.
func (c *Client) ask(ctx context.Context, calls []call) ([]reply, error) {
	replies := make([]reply, len(calls))
	for sent := 1; ; sent++ {
		var open []int
		for i := range replies {
			if !replies[i].there() {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			return replies, nil
		}
		open = open[:min(len(open), c.most())]
		fewer, err := c.post(ctx, calls, open, replies, sent)
		if err != nil {
			return nil, err
		}
		if !fewer {
			if err := c.settle(calls, open, replies); err != nil {
				return nil, err
			}
		}
	}
}

// settle removes, after a request, the replies to calls that are to be repeated.
func (c *Client) settle(calls []call, asked []int, replies []reply) error {
	again, tries := false, 0
	for _, i := range asked {
		r := &replies[i]
		if calls[i].listed && r.null() {
			r.result = nil
		}
		r.tries++
		switch {
		case r.err != nil && r.err.isTooMuch() && r.tries < mostRounds:
			c.host.TooMuch(firstPause << r.tries)
			r.err = nil
		case r.err != nil && r.err.passes() && r.tries < mostRounds:
			again, tries = true, max(tries, r.tries)
			r.err = nil
		case !r.there() && r.tries >= mostRounds:
			return &Incomplete{Why: NotAnswered}
		case !r.there():
			c.count(func(s *Stats) { s.AskedAgain++ })
		}
	}
	if again {
		c.count(func(s *Stats) { s.Faults++ })
		c.host.Pause(firstPause << tries)
	}
	return nil
}

func (c *Client) count(f func(s *Stats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.stats)
}

// most returns the maximum number of calls of a batch.
func (c *Client) most() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.batch
}

// takes records how many calls the provider accepts in a batch.
func (c *Client) takes(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batch = min(c.batch, max(n, 1))
}

// post sends the calls with these numbers and sets their replies. fewer is set if the provider
// accepts fewer calls in a batch; its response is then ignored.
func (c *Client) post(ctx context.Context, calls []call, numbers []int, replies []reply, sent int) (fewer bool, err error) {
	n := int64(len(numbers))
	first := c.id.Add(n) - n + 1
	list := make([]envelope, n)
	for i, number := range numbers {
		list[i] = envelope{"2.0", first + int64(i), calls[number].method, slices.Concat([]any{}, calls[number].params)}
	}
	var question any = list
	if n == 1 {
		question = list[0]
	}
	body, err := json.Marshal(question)
	if err != nil {
		return false, err
	}
	in := &room{}
	if slices.ContainsFunc(numbers, func(i int) bool { return calls[i].large }) {
		in = c.room()
	}
	a, err := c.host.Do(ctx, fetch.Request{Body: body, Take: ownError, Room: in.body})
	var refused *fetch.StatusError
	if n > 1 && errors.As(err, &refused) && (refused.Code == http.StatusBadRequest || refused.Code == http.StatusMethodNotAllowed || refused.Code == http.StatusUnprocessableEntity) {
		c.takes(1) // some do not support batches and return only this
		return true, nil
	}
	if err != nil {
		return false, err
	}
	in.body = a.Body
	r := reading{c: c, status: a.Status, first: first, numbers: numbers, replies: replies, sent: sent, room: in}
	switch err := answers(in, r.take); {
	case errors.Is(err, errFewer):
		for _, i := range numbers {
			replies[i] = reply{tries: replies[i].tries}
		}
		return true, nil
	case errors.Is(err, errNoJSON):
		return false, &fetch.ShapeError{Code: a.Status, Why: fetch.NotJSON}
	default:
		return false, err
	}
}

// errFewer ends reading a response that says that a batch has too many calls.
var errFewer = errors.New("fewer calls in a batch")

// reading assigns the parts of a response to calls.
type reading struct {
	c       *Client
	status  int
	first   int64 // id of the first call
	numbers []int // of the calls
	replies []reply
	sent    int
	room    *room
}

// take sets the reply of one answer.
func (r *reading) take(a *answered) error {
	var e *Error
	if a.err != nil {
		e = newError(a.err)
		e.Message, e.status = r.c.host.Mask(e.Message), r.status
		if n := len(r.numbers); n > 1 && e.isBatch(a.alone) {
			r.c.takes(e.batchOf(n))
			return errFewer
		}
	}
	id, ok := quantity(a.id)
	if e != nil && (a.alone || !ok) { // it is about all calls
		for _, i := range r.numbers {
			if !r.replies[i].there() {
				r.replies[i].err = e
			}
		}
		return nil
	}
	if !ok || id < r.first || id >= r.first+int64(len(r.numbers)) {
		r.c.count(func(s *Stats) { s.Foreign++ })
		return nil
	}
	own := &r.replies[r.numbers[id-r.first]]
	if own.there() {
		r.c.count(func(s *Stats) { s.Repeated++ })
		if (own.err == nil) != (e == nil) || !bytes.Equal(own.result, a.result) {
			return &Incomplete{Why: Differ}
		}
		return nil
	}
	*own = reply{result: a.result, elements: a.elements, room: r.room, err: e, sent: r.sent, tries: own.tries}
	return nil
}

// ownError reports whether a response with an error status has a JSON-RPC error. Temporary errors
// are left to fetch, which repeats the request.
func ownError(status int, body []byte) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, 499:
		return false
	}
	found := false
	err := answers(&room{body: body}, func(a *answered) error {
		if a.err != nil {
			e := newError(a.err)
			found = found || status < http.StatusInternalServerError || e.isWide() || e.isBatch(false)
		}
		return nil
	})
	return found && err == nil
}

// answered is an unchecked answer.
type answered struct {
	id, result, err []byte
	elements        []element // elements of a result that is an array
	alone           bool      // it is not an element of a list
}

// answers calls f with every answer of the body in a room, which is one answer or a list. An answer
// with an error has no result.
func answers(in *room, f func(*answered) error) error {
	in.elements = in.elements[:0]
	i := chain.SkipSpace(in.body, 0)
	var err error
	if i < len(in.body) && in.body[i] == '{' {
		i, err = in.answer(i, &answered{alone: true}, f)
	} else {
		i, err = array(in.body, i, func(i int) (int, error) { return in.answer(i, &answered{}, f) })
	}
	if err != nil {
		return err
	}
	return over(in.body, i)
}

// answer parses the answer at i, calls f with it, and returns its end. It also finds the elements
// of a result that is an array.
func (in *room) answer(i int, a *answered, f func(*answered) error) (end int, err error) {
	b := in.body
	end, err = object(b, i, func(key []byte, i int) (end int, err error) {
		if string(key) == "result" && i < len(b) && b[i] == '[' {
			first := len(in.elements)
			if in.elements, end, err = locateElements(b, i, in.elements); err != nil {
				return 0, err
			}
			a.elements = in.elements[first:]
		} else {
			var ok bool
			if end, ok = chain.SkipValue(b, i); !ok {
				return 0, errNoJSON
			}
		}
		return end, a.member(key, b[i:end])
	})
	if err != nil {
		return 0, err
	}
	if a.err != nil {
		a.result, a.elements = nil, nil
	}
	return end, f(a)
}

// member sets a member of an answer, which must not be repeated.
func (a *answered) member(key, value []byte) error {
	field := &a.id
	switch string(key) {
	case "id":
	case "result":
		field = &a.result
	case "error":
		if field = &a.err; string(value) == "null" {
			return nil
		}
	default:
		return nil
	}
	if *field != nil {
		return errNoJSON // it is unclear which of the two is valid
	}
	*field = value
	return nil
}

// quantity parses a JSON number, or a string with digits or 0x and hex digits. It must not be
// negative.
func quantity(b []byte) (int64, bool) {
	text := strings.Trim(string(b), `"`)
	base := 10
	if hex, is := strings.CutPrefix(strings.ToLower(text), "0x"); is {
		text, base = hex, 16
	}
	n, err := strconv.ParseInt(text, base, 64)
	return n, err == nil && n >= 0
}

// hexOf returns a number in the format of JSON-RPC.
func hexOf(n int64) string { return "0x" + strconv.FormatInt(n, 16) }
