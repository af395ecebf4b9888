package clob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/pages"
)

// Book is the top of a token's order book.
type Book struct {
	Token     string
	Condition data.Hash   // zero if the book does not have it
	Bid, Ask  *data.Micro // nil: that side is empty
	Last      *data.Micro // the last trade's price; nil if the book does not have it
	At        time.Time   // when the book last changed; zero if it does not say
}

// ErrNoBooks is the error of a response without any book. The CLOB returns such a response for
// tokens that are not traded, and also for a request that it does not understand.
var ErrNoBooks = errors.New("the response has no book")

// Books returns the books of tokens, in any order. Tokens that are not traded have none. It
// requests at most mostBooks at once. The error is ErrNoBooks if a response has no book at all.
func (c *Client) Books(ctx context.Context, tokens []string) ([]Book, error) {
	var books []Book
	for len(tokens) > 0 {
		some := tokens[:min(len(tokens), mostBooks)]
		tokens = tokens[len(some):]
		got, err := c.someBooks(ctx, some)
		if err != nil {
			return nil, err
		}
		books = append(books, got...)
	}
	return books, nil
}

func (c *Client) someBooks(ctx context.Context, tokens []string) ([]Book, error) {
	type want struct {
		Token string `json:"token_id"`
	}
	wants, asked := make([]want, len(tokens)), map[string]bool{}
	for i, t := range tokens {
		wants[i], asked[t] = want{t}, true
	}
	body, err := json.Marshal(wants)
	if err != nil {
		return nil, err
	}
	a, err := c.host.Do(ctx, fetch.Request{Method: http.MethodPost, Path: booksPath, Body: body})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", booksPath, err)
	}
	var rows []row
	if err := json.Unmarshal(a.Body, &rows); err != nil {
		return nil, &pages.ShapeError{Path: booksPath, Why: "the response is not a list of books: " + err.Error()}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: %d tokens: %w", booksPath, len(tokens), ErrNoBooks)
	}
	books := make([]Book, 0, len(rows))
	for i := range rows {
		b, err := rows[i].book()
		if err != nil {
			return nil, &pages.ShapeError{Path: booksPath, Why: err.Error()}
		}
		if !asked[b.Token] {
			return nil, &pages.ForeignError{Path: booksPath, What: "the book of " + b.Token, Asked: "it is not one of the tokens"}
		}
		asked[b.Token] = false // a second one was not requested either
		books = append(books, b)
	}
	return books, nil
}

// row is a book as in responses of the CLOB and on its channel.
type row struct {
	Token     shape.Text `json:"asset_id"`
	Condition shape.Text `json:"market"`
	Bids      []Level    `json:"bids"`
	Asks      []Level    `json:"asks"`
	Last      shape.Text `json:"last_trade_price"`
	Timestamp shape.Text `json:"timestamp"`
}

// Level is a price on one side of a book and the number of tokens offered at it.
type Level struct {
	Price shape.Text `json:"price"`
	Size  shape.Text `json:"size"`
}

func (r *row) book() (b Book, err error) {
	b.Token = r.Token.Trim()
	if b.Token == "" {
		return b, errors.New("a book has no token")
	}
	if b.Condition, err = r.Condition.Condition(); err != nil {
		return b, err
	}
	if b.Bid, b.Ask, err = Best(r.Bids, r.Asks); err != nil {
		return b, err
	}
	if b.Last, err = Price(r.Last); err != nil {
		return b, err
	}
	b.At, err = Millis(r.Timestamp)
	return b, err
}

// Best returns the highest bid and the lowest ask, nil if a side is empty. Levels may be in any
// order; those of size 0 do not count.
func Best(bids, asks []Level) (bid, ask *data.Micro, err error) {
	best := func(levels []Level, better func(a, b data.Micro) bool) (top *data.Micro, err error) {
		for _, l := range levels {
			p, err := Price(l.Price)
			if err != nil {
				return nil, err
			}
			size, ok := l.Size.Micro()
			if p == nil || !ok || size < 0 {
				return nil, fmt.Errorf("a level of a book has the price %q and the size %q", l.Price, l.Size)
			}
			if size > 0 && (top == nil || better(*p, *top)) {
				top = p
			}
		}
		return top, nil
	}
	if bid, err = best(bids, func(a, b data.Micro) bool { return a > b }); err != nil {
		return nil, nil, err
	}
	ask, err = best(asks, func(a, b data.Micro) bool { return a < b })
	return bid, ask, err
}

// Price parses a price from 0 to 1; nil if it is empty, which is how the CLOB writes a missing one.
func Price(t shape.Text) (*data.Micro, error) {
	if t.Trim() == "" {
		return nil, nil
	}
	p, ok := t.Micro()
	if !ok || p < 0 || p > data.One {
		return nil, fmt.Errorf("%q is not a price", t)
	}
	return &p, nil
}

// Millis parses a time in unix milliseconds; the zero time if it is empty.
func Millis(t shape.Text) (time.Time, error) {
	if t.Trim() == "" {
		return time.Time{}, nil
	}
	ms, err := strconv.ParseInt(t.Trim(), 10, 64)
	if err != nil || ms <= 0 || ms > 1e14 {
		return time.Time{}, fmt.Errorf("%q is not a time in milliseconds", t)
	}
	return time.UnixMilli(ms).UTC(), nil
}
