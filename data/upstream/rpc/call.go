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
	listed bool // null is no answer
	large  bool // its result is worth a room that was used before
}

// room is what an answer is held in.
type room struct {
	body     []byte
	elements []extent // of results that are arrays, their elements
}

// room gives one that was given back, or a new one.
func (c *Client) room() *room {
	if r, ok := c.rooms.Get().(*room); ok {
		return r
	}
	return &room{}
}

// give takes back a room that nobody reads any more.
func (c *Client) give(r room) { c.rooms.Put(&r) }

// reply is what a call was answered with.
type reply struct {
	result   []byte   // JSON; null where the result is
	elements []extent // of a result that is an array, its elements
	room     *room    // that has result and elements
	err      *Error
	sent     int // which request it was answered in
	tries    int
}

func (r *reply) there() bool { return r.result != nil || r.err != nil }

func (r *reply) null() bool { return string(r.result) == "null" }

// envelope is what stands around a call.
type envelope struct {
	Version string `json:"jsonrpc"`
	ID      int64  `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

// ask asks all calls, in as few requests as the provider takes, and what it left unanswered
// again. What is wrong with a call is in its reply; NotAnswered is for what is missing at the
// end. Errors that may pass are asked about again, later.
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

// settle takes back, after a request, the replies that are not to be the last word.
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

// most returns how many calls a batch may have.
func (c *Client) most() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.batch
}

// takes notes how many calls the provider takes in a batch.
func (c *Client) takes(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batch = min(c.batch, max(n, 1))
}

// post sends the calls of these numbers and fills in their replies. fewer tells that the
// provider takes fewer calls in a batch, and what it answered is no answer.
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
		c.takes(1) // some know no batches, and say no more
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

// errFewer ends reading an answer that says that a batch has too many calls.
var errFewer = errors.New("fewer calls in a batch")

// reading is what is needed to find the replies of answers.
type reading struct {
	c       *Client
	status  int
	first   int64 // id of the first call
	numbers []int // of the calls
	replies []reply
	sent    int
	room    *room
}

// take takes one answer.
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
	if e != nil && (a.alone || !ok) { // it is about all
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

// ownError reports whether the answer of an error's status says in JSON-RPC what is wrong. What may
// pass, fetch asks again.
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

// answered is one answer as it came.
type answered struct {
	id, result, err []byte
	elements        []extent // of a result that is an array
	alone           bool     // it is no element of a list
}

// answers calls f with every answer of the body in a room, which is one or a list of them. An
// answer with an error has no result.
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

// answer reads the answer at i, calls f with it, and returns where it ends. The elements of a
// result that is an array are found on the way.
func (in *room) answer(i int, a *answered, f func(*answered) error) (end int, err error) {
	b := in.body
	end, err = object(b, i, func(key []byte, i int) (end int, err error) {
		if string(key) == "result" && i < len(b) && b[i] == '[' {
			first := len(in.elements)
			if in.elements, end, err = extents(b, i, in.elements); err != nil {
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

// member takes a member of an answer, which must not be there twice.
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
		return errNoJSON // which of the two?
	}
	*field = value
	return nil
}

// quantity reads a number of JSON, or a string of one in digits or in 0x and hex digits, that
// is not below zero.
func quantity(b []byte) (int64, bool) {
	text := strings.Trim(string(b), `"`)
	base := 10
	if hex, is := strings.CutPrefix(strings.ToLower(text), "0x"); is {
		text, base = hex, 16
	}
	n, err := strconv.ParseInt(text, base, 64)
	return n, err == nil && n >= 0
}

// hexOf returns a number as JSON-RPC wants it.
func hexOf(n int64) string { return "0x" + strconv.FormatInt(n, 16) }
