package polymarket

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/data/feeds/spill"
)

const tradesRule = "pages overlap, so equal rows are one fill; a row is the taker's fill, as is the API's default, " +
	"but if rows of one transaction name several wallets, their roles are unknown"

func trades() data.Feed {
	return data.Feed{
		Name:     "polymarket-trades",
		About:    "data API /trades (v1) and /v2/trades: JSON pages or NDJSON",
		Rule:     tradesRule,
		Kind:     data.KindFills,
		Identity: data.CollapseRepeats,
		Formats:  []data.Format{data.JSON, data.NDJSON},
		Match: func(h data.Head) bool {
			for _, p := range []string{"", "data[].", "trades[]."} {
				v1 := shape.HasKeys(h, p+"proxyWallet", p+"side", p+"asset", p+"size", p+"timestamp")
				v2 := shape.HasKeys(h, p+"proxy_wallet", p+"side", p+"token_id", p+"size", p+"timestamp")
				if v1 || v2 {
					return true
				}
			}
			return false
		},
		Read: readTrades,
	}
}

// trade is a row of /trades with the field names of both versions.
type trade struct {
	Wallet1    shape.Text `json:"proxyWallet"`
	Wallet2    shape.Text `json:"proxy_wallet"`
	Side       shape.Text `json:"side"`
	Asset1     shape.Text `json:"asset"`
	Asset2     shape.Text `json:"token_id"`
	Condition1 shape.Text `json:"conditionId"`
	Condition2 shape.Text `json:"condition_id"`
	Size       shape.Text `json:"size"`
	Price      shape.Text `json:"price"`
	Cost       shape.Text `json:"cost"`
	Timestamp  shape.Text `json:"timestamp"`
	Datetime   shape.Text `json:"datetime"`
	Title      shape.Text `json:"title"`
	Slug       shape.Text `json:"slug"`
	Icon       shape.Text `json:"icon"`
	EventSlug1 shape.Text `json:"eventSlug"`
	EventSlug2 shape.Text `json:"event_slug"`
	Label      shape.Text `json:"outcome"`
	Outcome1   shape.Text `json:"outcomeIndex"`
	Outcome2   shape.Text `json:"outcome_index"`
	Name       shape.Text `json:"name"`
	Tx1        shape.Text `json:"transactionHash"`
	Tx2        shape.Text `json:"transaction_hash"`
}

func (t *trade) wallet() string { return first(t.Wallet1, t.Wallet2).Trim() }
func (t *trade) tx() string     { return first(t.Tx1, t.Tx2).Trim() }

// fill returns the fill of a row, with the role taker. The error is a *shape.RowError.
func (t *trade) fill() (data.Fill, error) {
	f := data.Fill{LogIndex: data.NoIndex, Role: data.Taker, Name: t.Name.Trim()}
	var err error
	if f.Wallet, err = data.ParseAddress(t.wallet()); err != nil {
		return f, shape.Known("bad_address")
	}
	if f.TS, err = t.time(); err != nil {
		return f, err
	}
	var ok bool
	if f.TokenID, ok = shape.TokenID(first(t.Asset1, t.Asset2).Trim()); !ok {
		return f, shape.Known("bad_token")
	}
	if f.Side, err = shape.SideOf(t.Side.Trim()); err != nil {
		return f, err
	}
	if f.Shares, ok = t.Size.Micro(); !ok {
		return f, shape.Known("bad_amount")
	}
	if f.USD, err = t.usd(); err != nil {
		return f, shape.Known("bad_amount")
	}
	if f.Tx, err = first(t.Tx1, t.Tx2).Hash(); err != nil {
		return f, err
	}
	if f.Condition, err = first(t.Condition1, t.Condition2).Condition(); err != nil {
		return f, err
	}
	if f.Outcome, err = first(t.Outcome1, t.Outcome2).Index(noOutcome); err != nil {
		return f, err
	}
	if f.Outcome > maxOutcome || f.Condition.IsZero() {
		f.Outcome = data.NoIndex
	}
	return f, shape.Check(f)
}

// time prefers the unix time: the datetime column of the platform tape was derived from it,
// sometimes with the wrong unit.
func (t *trade) time() (int64, error) {
	if s := t.Timestamp.Trim(); s != "" {
		return shape.FillTime(s)
	}
	return shape.FillTime(t.Datetime.Trim())
}

func (t *trade) usd() (data.Micro, error) {
	if price := t.Price.Trim(); price != "" {
		return shape.Dollars(t.Size.Trim(), price)
	}
	return data.ParseMicro(t.Cost.Trim())
}

// maxOutcome is the largest valid outcome index; the API writes noOutcome for an unknown one.
const maxOutcome, noOutcome = 99, 999

func (t *trade) market(f data.Fill) data.Market {
	return data.Market{Condition: f.Condition, Question: t.Title.Trim(), Slug: t.Slug.Trim(), Icon: t.Icon.Trim(),
		EventSlug: first(t.EventSlug1, t.EventSlug2).Trim(), Stub: true}
}

// tradeReader passes on the fills of a file, and their markets and tokens about once each.
type tradeReader struct {
	sink    data.Sink
	several *spill.Rows
	number  uint64 // of the row
	stubs   shape.RecentSet
}

func readTrades(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) (err error) {
	open, r, err := shape.Reopener(src, r)
	if err != nil {
		return err
	}
	again, err := open()
	if err != nil {
		return err
	}
	several, err := severalWallets(ctx, src, again)
	if err = errors.Join(err, again.Close()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, several.Close()) }()
	t := tradeReader{sink: sink, several: several}
	return eachTrade(ctx, src, r, sink, t.row)
}

func eachTrade(ctx context.Context, src data.Source, r io.Reader, sink data.Sink, fn shape.Record) error {
	rd := shape.Reading{Lists: []string{"data", "trades"}, Sink: sink}
	return rd.Each(ctx, src, r, fn)
}

func (t *tradeReader) row(line int64, raw json.RawMessage) error {
	t.number++
	several, err := t.several.Has(t.number)
	if err != nil {
		return err
	}
	var row trade
	if json.Unmarshal(raw, &row) != nil {
		return shape.Reject(t.sink, line, raw, shape.Known("bad_json"))
	}
	f, err := row.fill()
	if err != nil {
		return shape.Reject(t.sink, line, raw, err)
	}
	if several {
		f.Role = data.RoleUnknown
	}
	if err := t.stub(line, &row, f); err != nil {
		return err
	}
	return t.sink.Fill(line, f)
}

func (t *tradeReader) stub(line int64, row *trade, f data.Fill) error {
	ref := data.TokenRef{TokenID: f.TokenID, Condition: f.Condition, Outcome: f.Outcome, Label: row.Label.Trim(), Stub: true}
	if f.Condition.IsZero() && ref.Label == "" {
		return nil
	}
	m := row.market(f)
	if !f.Condition.IsZero() && t.stubs.Add(f.Condition.String()+m.Question+m.Slug+m.EventSlug+m.Icon) {
		if err := t.sink.Market(line, m); err != nil {
			return err
		}
	}
	if !t.stubs.Add(f.Condition.String() + ref.TokenID + "/" + strconv.Itoa(ref.Outcome) + ref.Label) {
		return nil
	}
	return t.sink.Token(line, ref)
}

// party returns the transaction and the wallet of a row; false if the row does not have them.
func (t *trade) party() (tx data.Hash, wallet data.Address, ok bool) {
	tx, err := data.ParseHash(t.tx())
	if err != nil || tx.IsZero() {
		return tx, wallet, false
	}
	wallet, err = data.ParseAddress(t.wallet())
	return tx, wallet, err == nil
}

// severalWallets returns the numbers of rows whose transaction has rows of more than one wallet in
// the file.
func severalWallets(ctx context.Context, src data.Source, r io.Reader) (rows *spill.Rows, err error) {
	parties := spill.New(src.Spill, src.Memory)
	defer func() { err = errors.Join(err, parties.Close()) }()
	number := uint64(0)
	err = eachTrade(ctx, src, r, shape.Discard{}, func(_ int64, raw json.RawMessage) error {
		number++
		var row trade
		if json.Unmarshal(raw, &row) != nil {
			return nil
		}
		tx, wallet, ok := row.party()
		if !ok {
			return nil
		}
		return parties.Add(tx[:], binary.BigEndian.AppendUint64(wallet[:], number))
	})
	rows = spill.NewRows(src.Spill, src.Memory)
	if err == nil {
		err = shared(parties, rows)
	}
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return rows, nil
}

// shared adds the rows of transactions of several wallets to rows. One cursor is a transaction
// ahead of the other, to find out how many wallets the transaction has.
func shared(parties *spill.Sorter, rows *spill.Rows) error {
	ahead, err := parties.Sorted()
	if err != nil {
		return err
	}
	behind, err := parties.Sorted()
	if err != nil {
		return err
	}
	var tx data.Hash
	var wallet data.Address
	count, several := 0, false
	for {
		key, value, err := ahead.Next()
		end := errors.Is(err, io.EOF)
		if err == nil && (len(key) != len(tx) || len(value) != len(wallet)+8) {
			err = spill.ErrDamaged
		}
		if err != nil && !end {
			return err
		}
		if end || data.Hash(key) != tx {
			if err := take(behind, rows, count, several); err != nil || end {
				return err
			}
			tx, wallet, count, several = data.Hash(key), data.Address(value[:len(wallet)]), 0, false
		}
		count++
		several = several || data.Address(value[:len(wallet)]) != wallet
	}
}

// take reads the next count rows, and adds them to rows if all is set.
func take(c *spill.Cursor, rows *spill.Rows, count int, all bool) error {
	for range count {
		_, value, err := c.Next()
		if err == nil && len(value) < 8 {
			err = spill.ErrDamaged
		}
		if err == nil && all {
			err = rows.Add(binary.BigEndian.Uint64(value[len(value)-8:]))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
