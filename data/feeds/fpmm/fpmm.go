// Package fpmm reads trades of the venue's first years, when a market was an
// automated market maker: one CSV file per market, with cents for amounts and
// neither condition ids nor transaction hashes.
package fpmm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// Feeds returns the feeds of this package.
func Feeds() []data.Feed { return []data.Feed{trades()} }

// Space is the name under which markets of this feed get their synthetic ids.
const Space = "fpmm"

// Condition returns the synthetic condition id of a market key.
func Condition(key string) data.Hash { return data.SyntheticCondition(Space, key) }

// Token returns the synthetic token id of a normalised label.
func Token(condition data.Hash, label string) string {
	return data.SyntheticToken(condition, strings.ToLower(label))
}

func trades() data.Feed {
	return data.Feed{
		Name:  "fpmm-trades",
		About: "AMM-era trades of one market per CSV file, named after the market (Account, Type, Outcome, Amount, Shares)",
		Rule: "the file is one market's whole history in cents: equal rows within it are separate fills, " +
			"across files the larger count is used",
		Kind:     data.KindFills,
		Identity: data.KeepRepeats,
		Formats:  []data.Format{data.CSV},
		Match: func(h data.Head) bool {
			return shape.HasColumns(h, "Timestamp", "Account", "Type", "Outcome", "Amount", "Shares", "Price")
		},
		Read: readTrades,
	}
}

// row is one trade of a user against the pool.
type row struct {
	Timestamp, Account, Type, Outcome, Amount, Shares shape.Text
}

// maxOutcomes is the maximum number of outcomes of a market.
const maxOutcomes = 100

// readTrades first reads the whole file for its labels, because the order of the outcomes depends
// on them.
func readTrades(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	key := MarketKey(src.Name)
	if src.Name == "" {
		key = MarketKey(src.Path)
	}
	condition := Condition(key)
	open, r, err := shape.Reopener(src, r)
	if err != nil {
		return err
	}
	again, err := open()
	if err != nil {
		return err
	}
	seen, err := labelsIn(ctx, src, again, condition)
	if err = errors.Join(err, again.Close()); err != nil {
		return err
	}
	labels, said := Outcomes(seen), false
	rd := shape.Reading{Sink: sink}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		f, label, err := parse(raw, condition)
		if err != nil {
			return shape.Reject(sink, line, raw, err)
		}
		if !said {
			if err := sink.Market(line, Market(key, labels)); err != nil {
				return err
			}
			said = true
		}
		f.Outcome = slices.Index(labels, label)
		return sink.Fill(line, f)
	})
}

// labelsIn returns the labels of the usable rows of a file.
func labelsIn(ctx context.Context, src data.Source, r io.Reader, condition data.Hash) (labels []string, err error) {
	err = shape.Reading{Sink: shape.Discard{}}.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var said struct{ Outcome shape.Text }
		if json.Unmarshal(raw, &said) == nil && slices.Contains(labels, Label(said.Outcome.Trim())) {
			return nil
		}
		_, label, err := parse(raw, condition)
		if err != nil || slices.Contains(labels, label) {
			return nil //nolint:nilerr // the row is rejected when it is read again
		}
		if len(labels) == maxOutcomes {
			return fmt.Errorf("line %d: more than %d outcomes: the file is not about a single market", line, maxOutcomes)
		}
		labels = append(labels, label)
		return nil
	})
	return labels, err
}

func parse(raw []byte, condition data.Hash) (f data.Fill, label string, err error) {
	var r row
	if json.Unmarshal(raw, &r) != nil {
		return f, "", shape.Known("bad_json")
	}
	wallet, name, err := account(r.Account.Trim())
	if err != nil {
		return f, "", err
	}
	ts, err := shape.FillTime(r.Timestamp.Trim())
	if err != nil {
		return f, "", err
	}
	side, err := shape.SideOf(r.Type.Trim())
	if err != nil {
		return f, "", err
	}
	label = Label(r.Outcome.Trim())
	if label == "" {
		return f, "", shape.Known("bad_token")
	}
	usd, ok := r.Amount.Micro()
	shares, ok2 := r.Shares.Micro()
	if !ok || !ok2 {
		return f, "", shape.Known("bad_amount")
	}
	f = data.Fill{LogIndex: data.NoIndex, TS: ts, Wallet: wallet, Name: name, Role: data.Taker, Side: side, Shares: shares, USD: usd,
		Condition: condition, TokenID: Token(condition, label)}
	return f, label, shape.Check(f)
}

// account parses an address or, in a few rows, a user name instead of one: that account gets a
// synthetic address and keeps the name.
func account(text string) (data.Address, string, error) {
	a, err := data.ParseAddress(text)
	switch {
	case err == nil:
		return a, "", nil
	case text == "" || strings.HasPrefix(strings.ToLower(text), "0x"):
		return a, "", shape.Known("bad_address")
	}
	return data.SyntheticAddress(Space, strings.ToLower(text)), text, nil
}

// Market returns the market of a key with its normalised labels in payout order.
func Market(key string, labels []string) data.Market {
	condition := Condition(key)
	m := data.Market{Condition: condition, Slug: strings.ReplaceAll(key, "_", "-"), Question: question(key), Outcomes: labels}
	for _, l := range labels {
		m.TokenIDs = append(m.TokenIDs, Token(condition, l))
	}
	return m
}

// question makes a title from a market key: "arizona_senate" is "Arizona senate".
func question(key string) string {
	words := strings.TrimSpace(strings.ReplaceAll(key, "_", " "))
	if words == "" {
		return key
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// MarketKey returns the market of a file: its base name without extensions.
func MarketKey(name string) string {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	for {
		switch ext := strings.ToLower(path.Ext(base)); ext {
		case ".csv", ".gz", ".zst":
			base = base[:len(base)-len(ext)]
		default:
			return base
		}
	}
}

// Label normalises labels that differ between files of the same feed.
func Label(s string) string {
	switch strings.ToLower(s) {
	case "democratic", "democrat", "democrats":
		return "Democrat"
	case "republican", "republicans":
		return "Republican"
	case "yes":
		return "Yes"
	case "no":
		return "No"
	}
	return s
}

// pairs are the outcomes of markets with exactly two, in payout order.
var pairs = [][]string{{"Democrat", "Republican"}, {"No", "Yes"}}

// Outcomes returns the outcomes of a market whose trades have these labels, in payout order, which
// for this feed is alphabetical. One label of a known pair implies the other, so that a file with
// trades of only one side agrees with a longer one.
func Outcomes(seen []string) []string {
	for _, p := range pairs {
		if !slices.ContainsFunc(seen, func(s string) bool { return !slices.Contains(p, s) }) {
			return slices.Clone(p)
		}
	}
	out := slices.Clone(seen)
	slices.Sort(out)
	return out
}
