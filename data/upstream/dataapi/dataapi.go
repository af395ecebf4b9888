// Package dataapi is a client of the second version of the venue's data API. It reads trades and
// resolutions of conditions, whose raw JSON the feeds polymarket-trades and polymarket-resolutions
// import, and how current they are.
package dataapi

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/pages"
)

// Client is a client of the data API. It may be used by several goroutines.
type Client struct{ host pages.Asker }

// New returns a Client that sends requests to host, whose base is the data API's.
func New(host pages.Asker) *Client { return &Client{host: host} }

const (
	tradesPath, resolutionsPath = "/v2/trades", "/v2/resolutions"
	statusPath, volumePath      = "/v2/status", "/v2/live-volume"
	// MostConditions is the maximum number of conditions of a request.
	MostConditions = 20
	mostTrades     = 1000
)

// Trade is a row of /v2/trades.
type Trade struct {
	Raw       json.RawMessage // the record, which the feed polymarket-trades imports
	Condition data.Hash
	Tx        data.Hash // zero if the row has none
	At        int64     // seconds of its block
}

// TradesPage is one page of trades, newest first.
type TradesPage struct {
	Trades []Trade
	Next   string // cursor; "" after the last page
}

// EachTrades scans the trades of at most MostConditions conditions from the page at the cursor
// from; "" is the newest. Rows are those of takers and makers, or of takers only if takerOnly is
// set. A cursor is only a position, so every page is requested with the same filters. The API never
// returns rows of less than 0.01 tokens.
func (c *Client) EachTrades(ctx context.Context, conditions []data.Hash, takerOnly bool, from string, fn func(TradesPage) error) error {
	ids, asked, err := list(conditions)
	if err != nil {
		return err
	}
	query := url.Values{"condition": {ids}, "taker_only": {strconv.FormatBool(takerOnly)}, "limit": {strconv.Itoa(mostTrades)}}
	var seen pages.Seen
	last := int64(math.MaxInt64)
	for cursor := from; ; {
		if cursor != "" {
			query.Set("cursor", cursor)
			query.Del("limit") // on the first page only: the cursor has it
		}
		p, err := c.tradesPage(ctx, query, asked)
		if err != nil {
			return err
		}
		texts := make([]string, len(p.Trades))
		for i, t := range p.Trades {
			texts[i] = string(t.Raw)
		}
		if err := seen.Check(tradesPath, cursor, p.Next, texts); err != nil {
			return err
		}
		for _, t := range p.Trades {
			if t.At > last { // a list that starts over would repeat rows, as if they were separate fills
				return &pages.ShapeError{Path: tradesPath, Why: "a trade is newer than the one before it"}
			}
			last = t.At
		}
		if err := fn(p); err != nil || p.Next == "" {
			return err
		}
		cursor = p.Next
	}
}

// WalletTrade is the wallet's side of a trade in a row of /v2/trades.
type WalletTrade struct {
	Trade
	Wallet data.Address
	Token  string // decimal
	Side   data.Side
	Shares data.Micro
	Price  data.Micro // USD per token
}

// Newest returns the newest trades of all markets, takers' rows only, newest first, and the number
// of rows that cannot be parsed. There are at most n rows, and at most a thousand. It sends a
// single request. If the rows do not reach back to those of the previous call, some trades in
// between are missing.
func (c *Client) Newest(ctx context.Context, n int) (trades []WalletTrade, bad int64, err error) {
	p, err := c.tradesPage(ctx, url.Values{"taker_only": {"true"}, "limit": {strconv.Itoa(min(n, mostTrades))}}, nil)
	if err != nil {
		return nil, 0, err
	}
	for _, t := range p.Trades {
		if w, ok := walletTrade(t); ok {
			trades = append(trades, w)
		} else {
			bad++
		}
	}
	return trades, bad, nil
}

// walletTrade parses the fields that EachTrades leaves to the importing feed.
func walletTrade(t Trade) (s WalletTrade, ok bool) {
	var row struct {
		Wallet shape.Text `json:"proxy_wallet"`
		Token  shape.Text `json:"token_id"`
		Side   shape.Text `json:"side"`
		Size   shape.Text `json:"size"`
		Price  shape.Text `json:"price"`
	}
	if json.Unmarshal(t.Raw, &row) != nil {
		return s, false
	}
	s.Trade = t
	var errWallet, errSide error
	var okToken, okSize, okPrice bool
	s.Wallet, errWallet = data.ParseAddress(row.Wallet.Trim())
	s.Side, errSide = shape.SideOf(row.Side.Trim())
	s.Token, okToken = shape.TokenID(row.Token.Trim())
	s.Shares, okSize = row.Size.Micro()
	s.Price, okPrice = row.Price.Micro()
	return s, errWallet == nil && errSide == nil && okToken && okSize && s.Shares >= 0 && okPrice && s.Price >= 0 && s.Price <= data.One
}

// tradesPage requests a page of trades of the conditions in asked; nil: of any.
func (c *Client) tradesPage(ctx context.Context, query url.Values, asked map[data.Hash]bool) (p TradesPage, err error) {
	var rows []json.RawMessage
	var pagination *struct {
		More *bool       `json:"has_more"`
		Next *shape.Text `json:"next_cursor"`
	}
	if err := c.ask(ctx, tradesPath, query, &rows, &pagination); err != nil {
		return p, err
	}
	if pagination == nil || pagination.More == nil {
		return p, &pages.ShapeError{Path: tradesPath, Why: "the response does not say whether it is the last page"}
	}
	if pagination.Next != nil {
		p.Next = pagination.Next.Trim()
	}
	if *pagination.More != (p.Next != "") {
		return p, &pages.ShapeError{Path: tradesPath, Why: "the response has a next page and is the last one, or neither"}
	}
	for _, raw := range rows {
		var row struct {
			Condition shape.Text `json:"condition_id"`
			Tx        shape.Text `json:"transaction_hash"`
			Timestamp shape.Text `json:"timestamp"`
		}
		if err := json.Unmarshal(raw, &row); err != nil {
			return p, &pages.ShapeError{Path: tradesPath, Why: "a row is not a trade: " + err.Error()}
		}
		t := Trade{Raw: raw}
		var errTx error
		t.Condition, err = row.Condition.Condition()
		t.Tx, errTx = row.Tx.Hash()
		if err != nil || errTx != nil {
			return p, &pages.ShapeError{Path: tradesPath, Why: fmt.Sprintf("a row has the condition %q and the transaction %q", row.Condition, row.Tx)}
		}
		if asked != nil && !asked[t.Condition] {
			return p, &pages.ForeignError{Path: tradesPath, What: "a trade of " + t.Condition.String(), Asked: "it is not one of the conditions"}
		}
		if t.At, err = data.ParseWhole(row.Timestamp.Trim()); err != nil {
			return p, &pages.ShapeError{Path: tradesPath, Why: fmt.Sprintf("a row has the time %q", row.Timestamp)}
		}
		p.Trades = append(p.Trades, t)
	}
	return p, nil
}

// Resolution is a row of /v2/resolutions.
type Resolution struct {
	Raw       json.RawMessage // the record, which the feed polymarket-resolutions imports
	Condition data.Hash
	Status    string // only "resolved" is reliable
	Block     int64  // in which it was reported; 0: not given
}

// Resolutions returns the resolutions of at most MostConditions conditions.
func (c *Client) Resolutions(ctx context.Context, conditions []data.Hash) ([]Resolution, error) {
	ids, asked, err := list(conditions)
	if err != nil {
		return nil, err
	}
	var rows []json.RawMessage
	if err := c.ask(ctx, resolutionsPath, url.Values{"condition": {ids}}, &rows, nil); err != nil {
		return nil, err
	}
	out := make([]Resolution, 0, len(rows))
	for _, raw := range rows {
		var row struct {
			Condition shape.Text `json:"condition_id"`
			Status    shape.Text `json:"status"`
			Block     shape.Text `json:"resolved_block"`
		}
		if err := json.Unmarshal(raw, &row); err != nil {
			return nil, &pages.ShapeError{Path: resolutionsPath, Why: "a row is not a resolution: " + err.Error()}
		}
		condition, err := row.Condition.Condition()
		if err != nil || !asked[condition] {
			return nil, &pages.ForeignError{Path: resolutionsPath, What: fmt.Sprintf("the resolution of %q", row.Condition), Asked: "it is not one of the conditions"}
		}
		asked[condition] = false // a second one was not requested either
		block, err := strconv.ParseInt(row.Block.Trim(), 10, 64)
		if err != nil || block < 0 {
			block = 0
		}
		out = append(out, Resolution{Raw: raw, Condition: condition, Status: strings.ToLower(row.Status.Trim()), Block: block})
	}
	return out, nil
}

// Status says how current the data API is.
type Status struct {
	Age         int64  // seconds since it was measured
	Lag         *int64 // seconds by which the served data is behind; nil: not measured
	Worst       string // the source that is furthest behind
	Synced      *int64 // newest block of the most advanced source; nil: not known
	OldestBlock *int64 // newest block of the source that is furthest behind
	Lagging     int    // number of sources that are behind
}

// Status returns how current the data API is. Before the API's first measurement, the error is a
// *fetch.StatusError with 503.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var body *struct {
		Age     *int64 `json:"age_seconds"`
		Serving *struct {
			Lag   *int64 `json:"lag_seconds"`
			Worst string `json:"worst"`
		} `json:"serving"`
		Ingestion *struct {
			Max     *int64            `json:"max_synced_block"`
			Min     *int64            `json:"min_synced_block"`
			Lagging []json.RawMessage `json:"lagging"`
		} `json:"ingestion"`
	}
	if err := c.ask(ctx, statusPath, nil, &body, nil); err != nil {
		return Status{}, err
	}
	if body == nil || body.Age == nil || body.Serving == nil || body.Ingestion == nil {
		return Status{}, &pages.ShapeError{Path: statusPath, Why: "the response has no age, no serving or no ingestion"}
	}
	return Status{Age: *body.Age, Lag: body.Serving.Lag, Worst: body.Serving.Worst,
		Synced: body.Ingestion.Max, OldestBlock: body.Ingestion.Min, Lagging: len(body.Ingestion.Lagging)}, nil
}

// LiveVolume returns the volume of an event's takers in tokens, by condition.
func (c *Client) LiveVolume(ctx context.Context, event string) (map[data.Hash]data.Micro, error) {
	var body *struct {
		Conditions *[]struct {
			Condition shape.Text `json:"condition_id"`
			Volume    shape.Text `json:"taker_volume"`
		} `json:"conditions"`
	}
	if err := c.ask(ctx, volumePath, url.Values{"id": {event}}, &body, nil); err != nil {
		return nil, err
	}
	if body == nil || body.Conditions == nil {
		return nil, &pages.ShapeError{Path: volumePath, Why: "the response has no list of conditions"}
	}
	out := map[data.Hash]data.Micro{}
	for _, row := range *body.Conditions {
		condition, err := row.Condition.Condition()
		volume, ok := row.Volume.Micro()
		if _, twice := out[condition]; err != nil || condition.IsZero() || !ok || volume < 0 || twice {
			return nil, &pages.ShapeError{Path: volumePath, Why: fmt.Sprintf("a row has the condition %q and the volume %q", row.Condition, row.Volume)}
		}
		out[condition] = volume
	}
	return out, nil
}

// ask sends a request and decodes the data and the pagination of the response; pagination may be
// nil.
func (c *Client) ask(ctx context.Context, path string, query url.Values, list, pagination any) error {
	a, err := c.host.Do(ctx, fetch.Request{Path: path, Query: query})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var body struct {
		Data       *json.RawMessage `json:"data"`
		Pagination json.RawMessage  `json:"pagination"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		return &pages.ShapeError{Path: path, Why: "the response is not an object: " + err.Error()}
	}
	if body.Data == nil {
		return &pages.ShapeError{Path: path, Why: "the response has no data"}
	}
	if err := json.Unmarshal(*body.Data, list); err != nil {
		return &pages.ShapeError{Path: path, Why: "the data has an unexpected type: " + err.Error()}
	}
	if pagination != nil && body.Pagination != nil {
		if err := json.Unmarshal(body.Pagination, pagination); err != nil {
			return &pages.ShapeError{Path: path, Why: "the pagination has an unexpected type: " + err.Error()}
		}
	}
	return nil
}

// list returns conditions as the value of a parameter and as a set.
func list(conditions []data.Hash) (ids string, asked map[data.Hash]bool, err error) {
	if len(conditions) == 0 || len(conditions) > MostConditions {
		return "", nil, fmt.Errorf("%d conditions requested at once: must be 1 to %d", len(conditions), MostConditions)
	}
	texts := make([]string, len(conditions))
	asked = map[data.Hash]bool{}
	for i, h := range conditions {
		texts[i], asked[h] = h.String(), true
	}
	return strings.Join(texts, ","), asked, nil
}
