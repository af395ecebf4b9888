// Package wallet reads files that list fills by wallet: responses of Dome's /orders, and wallet
// histories from Cascadian's fill table.
package wallet

import (
	"context"
	"encoding/json"
	"io"
	"strconv"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// Feeds returns the feeds of this package.
func Feeds() []data.Feed { return []data.Feed{domeOrders(), histories()} }

func domeOrders() data.Feed {
	return data.Feed{
		Name:     "dome-orders",
		About:    "Dome /polymarket/orders: filled orders of a user, shares in millionths",
		Rule:     "pages overlap, so equal rows of one order are one fill; the roles of the wallet are unknown",
		Kind:     data.KindFills,
		Identity: data.CollapseRepeats,
		Formats:  []data.Format{data.JSON, data.NDJSON},
		Match: func(h data.Head) bool {
			for _, p := range []string{"", "orders[]."} {
				if shape.HasKeys(h, p+"token_id", p+"order_hash", p+"shares", p+"price", p+"user") {
					return true
				}
			}
			return false
		},
		Read: readOrders,
	}
}

// order is a row of /orders. Shares are in millionths, the price is per share.
type order struct {
	Token     shape.Text `json:"token_id"`
	Side      shape.Text `json:"side"`
	Condition shape.Text `json:"condition_id"`
	Shares    shape.Text `json:"shares"`
	Price     shape.Text `json:"price"`
	Tx        shape.Text `json:"tx_hash"`
	Title     shape.Text `json:"title"`
	Slug      shape.Text `json:"market_slug"`
	Timestamp shape.Text `json:"timestamp"`
	User      shape.Text `json:"user"`
}

func readOrders(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Lists: []string{"orders"}, Sink: sink}
	stubs := &shape.RecentSet{}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		page := struct {
			Orders []json.RawMessage `json:"orders"`
		}{}
		if json.Unmarshal(raw, &page) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		if page.Orders == nil {
			page.Orders = []json.RawMessage{raw}
		}
		for _, one := range page.Orders {
			if err := readOrder(sink, line, one, stubs); err != nil {
				return err
			}
		}
		return nil
	})
}

func readOrder(sink data.Sink, line int64, raw []byte, stubs *shape.RecentSet) error {
	var o order
	if json.Unmarshal(raw, &o) != nil {
		return shape.Reject(sink, line, raw, shape.Known("bad_json"))
	}
	f, err := o.fill()
	if err != nil {
		return shape.Reject(sink, line, raw, err)
	}
	if !f.Condition.IsZero() && stubs.Add(f.Condition.String()+o.Title.Trim()+"\x00"+o.Slug.Trim()) {
		m := data.Market{Condition: f.Condition, Question: o.Title.Trim(), Slug: o.Slug.Trim(), Stub: true}
		if err := sink.Market(line, m); err != nil {
			return err
		}
	}
	return sink.Fill(line, f)
}

func (o *order) fill() (data.Fill, error) {
	f, err := basic(o.User, o.Timestamp, o.Token, o.Side, o.Shares)
	if err != nil {
		return f, err
	}
	if f.USD, err = shape.Dollars(f.Shares.String(), o.Price.Trim()); err != nil {
		return f, shape.Known("bad_amount")
	}
	if f.Tx, err = o.Tx.Hash(); err != nil {
		return f, err
	}
	if f.Condition, err = o.Condition.Condition(); err != nil {
		return f, err
	}
	return f, shape.Check(f)
}

// basic parses the fields that both feeds have: a wallet, a time, a token, a side and a size in
// millionths. The error is a *shape.RowError.
func basic(wallet, ts, token, side, shares shape.Text) (data.Fill, error) {
	f := data.Fill{LogIndex: data.NoIndex, Outcome: data.NoIndex}
	var err error
	if f.Wallet, err = data.ParseAddress(wallet.Trim()); err != nil {
		return f, shape.Known("bad_address")
	}
	if f.TS, err = shape.FillTime(ts.Trim()); err != nil {
		return f, err
	}
	var ok bool
	if f.TokenID, ok = shape.TokenID(token.Trim()); !ok {
		return f, shape.Known("bad_token")
	}
	if f.Side, err = shape.SideOf(side.Trim()); err != nil {
		return f, err
	}
	if f.Shares, ok = units(shares); !ok {
		return f, shape.Known("bad_amount")
	}
	return f, nil
}

// units parses an amount in millionths. Some sources sum amounts as floats, so a fraction is rounded.
func units(t shape.Text) (data.Micro, bool) {
	if n, err := data.ParseWhole(t.Trim()); err == nil {
		return data.Micro(n), true
	}
	f, err := strconv.ParseFloat(t.Trim(), 64)
	if err != nil {
		return 0, false
	}
	m, err := data.MicroOf(f / 1e6)
	return m, err == nil
}

func histories() data.Feed {
	return data.Feed{
		Name:  "wallet-histories",
		About: "wallets with nested fills: canonical_wallet, trades with asset_id, side, size and cost in millionths",
		Rule: "a history lists every fill once and has no transaction: equal rows within the file are separate fills, " +
			"across files the larger count is used; the roles of the wallet are unknown",
		Kind:     data.KindFills,
		Identity: data.KeepRepeats,
		Formats:  []data.Format{data.JSON, data.NDJSON},
		Match: func(h data.Head) bool {
			return shape.HasKeys(h, "canonical_wallet", "trades[].asset_id", "trades[].size", "trades[].cost")
		},
		Read: readHistories,
	}
}

func readHistories(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Sink: sink}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var h struct {
			Wallet shape.Text        `json:"canonical_wallet"`
			Trades []json.RawMessage `json:"trades"`
		}
		if json.Unmarshal(raw, &h) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		for _, one := range h.Trades {
			if err := readTrade(sink, line, h.Wallet, one); err != nil {
				return err
			}
		}
		return nil
	})
}

func readTrade(sink data.Sink, line int64, wallet shape.Text, raw []byte) error {
	var t struct {
		Timestamp shape.Text `json:"timestamp"`
		Asset     shape.Text `json:"asset_id"`
		Side      shape.Text `json:"side"`
		Size      shape.Text `json:"size"`
		Cost      shape.Text `json:"cost"`
	}
	if json.Unmarshal(raw, &t) != nil {
		return shape.Reject(sink, line, raw, shape.Known("bad_json"))
	}
	f, err := basic(wallet, t.Timestamp, t.Asset, t.Side, t.Size)
	if err != nil {
		return shape.Reject(sink, line, raw, err)
	}
	usd, ok := units(t.Cost)
	if !ok {
		return shape.Reject(sink, line, raw, shape.Known("bad_amount"))
	}
	f.USD = usd
	if err := shape.Check(f); err != nil {
		return shape.Reject(sink, line, raw, err)
	}
	return sink.Fill(line, f)
}
