package sample

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// venue is a venue that was written and read back by code that shares nothing with the writer.
type venue struct {
	manifest Manifest
	rows     [][]string
	events   []map[string]any
	markets  map[string]map[string]any // by condition id
	tokens   map[string]tokenOf
}

type tokenOf struct {
	condition string
	outcome   int
}

func stream1(t *testing.T, cfg Config) (fills, events []byte, m Manifest) {
	t.Helper()
	var f, e bytes.Buffer
	m, err := Stream(context.Background(), cfg, &f, &e, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f.Bytes(), e.Bytes(), m
}

func load(t *testing.T, cfg Config) *venue {
	t.Helper()
	fills, events, m := stream1(t, cfg)
	rows, err := csv.NewReader(bytes.NewReader(fills)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(rows[0], ","); got != "timestamp,maker,makerAssetId,makerAmountFilled,taker,takerAssetId,takerAmountFilled,transactionHash" {
		t.Fatalf("header %q", got)
	}
	v := &venue{manifest: m, rows: rows[1:], markets: map[string]map[string]any{}, tokens: map[string]tokenOf{}}
	for line := range bytes.Lines(events) {
		var e map[string]any
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("event line %d: %v", len(v.events)+1, err)
		}
		v.events = append(v.events, e)
		for _, a := range e["markets"].([]any) {
			v.keep(t, a.(map[string]any))
		}
	}
	return v
}

func (v *venue) keep(t *testing.T, m map[string]any) {
	id := m["conditionId"].(string)
	if v.markets[id] != nil {
		t.Fatalf("condition %s twice", id)
	}
	v.markets[id] = m
	for i, token := range texts(t, m["clobTokenIds"]) {
		if _, ok := v.tokens[token]; ok {
			t.Fatalf("token %s twice", token)
		}
		v.tokens[token] = tokenOf{id, i}
	}
}

// texts parses a list of texts that is encoded as JSON in a text.
func texts(t *testing.T, v any) (out []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(v.(string)), &out); err != nil || len(out) != 2 {
		t.Fatalf("%q: %v", v, err)
	}
	return out
}

// side is a decoded row: the maker's side.
type side struct {
	wallet, token string
	shares, cash  int64 // cash is negative for a buy, shares for a sell
}

func decode(t *testing.T, row []string) side {
	t.Helper()
	gave, got := number(t, row[3]), number(t, row[6])
	if row[2] == "0" {
		return side{row[1], row[5], got, -gave}
	}
	if row[5] != "0" {
		t.Fatalf("neither asset is collateral: %v", row)
	}
	return side{row[1], row[2], -gave, got}
}

func number(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 {
		t.Fatalf("amount %q: %v", s, err)
	}
	return n
}

func TestTokensAndCashOfEveryMarketBalance(t *testing.T) {
	v := load(t, Config{Fills: 30_000, Seed: 7})
	type book struct{ tokens, cash [2]int64 }
	books := map[string]*book{}
	for _, row := range v.rows {
		s := decode(t, row)
		at, ok := v.tokens[s.token]
		if !ok {
			t.Fatalf("token %s is of no market", s.token)
		}
		if books[at.condition] == nil {
			books[at.condition] = new(book)
		}
		books[at.condition].tokens[at.outcome] += s.shares
		books[at.condition].cash[at.outcome] += s.cash
	}
	split := 0
	for id, b := range books {
		if b.tokens[0] != b.tokens[1] {
			t.Errorf("%s: %d of one token, %d of the other", id, b.tokens[0], b.tokens[1])
		}
		if b.cash[0]+b.cash[1] != -b.tokens[0] {
			t.Errorf("%s: cash %d for %d sets", id, b.cash[0]+b.cash[1], b.tokens[0])
		}
		m := v.markets[id]
		if m["umaResolutionStatus"] != "resolved" {
			continue
		}
		// In halves of a millionth, so that 50-50 is a whole number.
		twice := map[string]int64{"1": 2, "0": 0, "0.5": 1}
		prices := texts(t, m["outcomePrices"])
		if prices[0] == "0.5" {
			split++
		}
		if pnl := 2*(b.cash[0]+b.cash[1]) + b.tokens[0]*twice[prices[0]] + b.tokens[1]*twice[prices[1]]; pnl != 0 {
			t.Errorf("%s: profits of all wallets add up to %d half-millionths", id, pnl)
		}
	}
	if len(books) < 500 || split == 0 {
		t.Errorf("%d markets traded, %d of them split: too few for this test", len(books), split)
	}
}

// matches splits the rows into transactions and fails if one is not contiguous.
func (v *venue) matches(t *testing.T) (out [][][]string) {
	t.Helper()
	seen := map[string]bool{}
	for i := 0; i < len(v.rows); {
		end := i + 1
		for end < len(v.rows) && v.rows[end][7] == v.rows[i][7] {
			end++
		}
		if seen[v.rows[i][7]] || end == i+1 {
			t.Fatalf("row %d: transaction not contiguous, or without a maker", i)
		}
		seen[v.rows[i][7]] = true
		out = append(out, v.rows[i:end])
		i = end
	}
	return out
}

// kinds counts makers by the kind of their match.
type kinds struct{ direct, minted, merged int }

// makers computes the taker's shares and cash from the makers of a match.
func (v *venue) makers(t *testing.T, legs [][]string, own side, k *kinds) (shares, cash int64) {
	t.Helper()
	for _, row := range legs {
		s := decode(t, row)
		if row[4] != own.wallet || s.wallet == own.wallet {
			t.Fatalf("maker row does not fit its taker: %v", row)
		}
		switch {
		case v.tokens[s.token].condition != v.tokens[own.token].condition:
			t.Fatalf("maker of another market: %v", row)
		case s.token == own.token: // the maker is the counterparty
			shares, cash, k.direct = shares-s.shares, cash-s.cash, k.direct+1
			continue
		case s.shares > 0:
			k.minted++
		default:
			k.merged++
		}
		// Both buy (mint) or both sell (merge): together one dollar a set.
		shares, cash = shares+s.shares, cash-s.shares-s.cash
	}
	return shares, cash
}

func TestEveryMatchIsMakersThenOneTakerOfTheirSum(t *testing.T) {
	v := load(t, Config{Fills: 20_000, Seed: 3})
	var k kinds
	matches, last := v.matches(t), v.manifest.Start.Unix()
	for i, rows := range matches {
		legs, taker := rows[:len(rows)-1], rows[len(rows)-1]
		own := decode(t, taker)
		m := v.markets[v.tokens[own.token].condition]
		if want := map[bool]string{false: plainExchange, true: negRiskExchange}[m["negRisk"].(bool)]; taker[4] != want {
			t.Fatalf("match %d: contract %s, want %s", i, taker[4], want)
		}
		for _, row := range rows {
			ts := number(t, row[0])
			if ts < last || ts >= v.manifest.End.Unix() || row[0] != taker[0] {
				t.Fatalf("match %d: time %d after %d", i, ts, last)
			}
			last = ts
		}
		if shares, cash := v.makers(t, legs, own, &k); shares != own.shares || cash != own.cash {
			t.Fatalf("match %d: taker %d shares %d cash, makers make %d and %d", i, own.shares, own.cash, shares, cash)
		}
	}
	if int64(len(matches)) != v.manifest.Matches || int64(len(v.rows)) != v.manifest.Fills || len(v.rows) != 20_000 {
		t.Errorf("%d matches of %d rows, manifest says %d of %d", len(matches), len(v.rows), v.manifest.Matches, v.manifest.Fills)
	}
	if k.direct < 1000 || k.minted < 1000 || k.merged < 200 {
		t.Errorf("%+v: a kind is missing", k)
	}
}
