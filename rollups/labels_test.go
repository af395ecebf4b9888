package rollups_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine"
)

// paysFor reads the outcome of every token: condition, index and label as text, and its number of
// fills.
func (v *venue) paysFor() map[string]string {
	out := map[string]string{}
	query := "SELECT token_id, m.condition, t.outcome, t.named.label AS label, (SELECT count(*) FROM fills AS f WHERE f.token = t.token) AS fills " +
		"FROM tokens AS t LEFT JOIN markets AS m ON m.market = t.market"
	type tokenRow struct {
		ID        string     `sql:"token_id"`
		Condition *data.Hash `sql:"condition"`
		Outcome   *int       `sql:"outcome"`
		Label     *string    `sql:"label"`
		Fills     int64      `sql:"fills"`
	}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		return engine.EachRow(ctx, conn, query, func(row *tokenRow) error {
			market := "-"
			if row.Condition != nil {
				market = fmt.Sprint(row.Condition[31])
			}
			out[row.ID] = fmt.Sprint(market, " ", orNull(row.Outcome), " ", orNull(row.Label), " ", row.Fills)
			return nil
		})
	})
	return out
}

// orNull formats a value; <nil> if there is none.
func orNull[T any](v *T) string {
	if v == nil {
		return "<nil>"
	}
	return fmt.Sprint(*v)
}

// TestLabelsDoNotDependOnTheOrderOfFiles: rows with a label but no index keep the label. The index
// is derived if the market lists that label once, and is replaced by one from a source. Fills that
// wait for an outcome's token do not use one with a derived index.
func TestLabelsDoNotDependOnTheOrderOfFiles(t *testing.T) {
	market := func(i, version int, outcomes ...string) data.Market {
		return data.Market{Condition: condition(i), Outcomes: outcomes, EventSlug: "e", Slug: fmt.Sprint(i),
			UpdatedAt: start.Add(time.Duration(version) * time.Hour)}
	}
	called := func(market, outcome, index int, label string) data.TokenRef {
		return data.TokenRef{TokenID: token(market, outcome), Condition: condition(market), Outcome: index, Label: label, Stub: true}
	}
	var fills []data.Fill
	for m := range 5 {
		for o := range 2 {
			fills = append(fills, data.Fill{Tx: tx(m*2 + o), LogIndex: 1, TS: start.UnixMicro() + int64(m)*day, Wallet: address(m % 2), Role: data.Taker,
				TokenID: token(m, o), Shares: 20 * data.One, USD: data.Micro(5+m) * data.One, Outcome: data.NoIndex})
		}
	}
	waits := func(i, outcome int) data.Fill {
		f := fills[0]
		f.Tx, f.TokenID = tx(20+outcome), fmt.Sprintf("c:%s:%d", condition(i).String()[2:], outcome)
		return f
	}
	bare := func(market, outcome int, label string) data.TokenRef {
		return data.TokenRef{TokenID: token(market, outcome), Outcome: data.NoIndex, Label: label, Stub: true}
	}
	paid := market(0, 1, "Yes", "No")
	paid.Resolution = &data.Resolution{Condition: condition(0), Payouts: []data.Micro{0, data.One}, Source: data.ResolvedByAPI}
	none := data.NoIndex
	steps := []step{
		{fills: fills[:3], refs: []data.TokenRef{called(0, 0, none, "No"), called(0, 1, none, "Y")}},
		{fills: fills, refs: []data.TokenRef{called(0, 0, none, "No"), called(0, 1, none, "Yes"), called(1, 0, none, "A"), called(1, 1, none, "B"),
			called(2, 0, none, "A"), called(2, 1, none, "Up"), called(3, 0, none, "Team A"), called(3, 1, 1, "Team B"),
			called(4, 0, none, "Ann")}},
		{fills: append(fills[8:], waits(1, 0), waits(1, 1)), refs: []data.TokenRef{bare(4, 0, "Zoe"), bare(4, 1, "Over")}},
		{markets: []data.Market{paid}},
		{markets: []data.Market{market(1, 1, "A", "B")}},
		{markets: []data.Market{market(1, 2, "A", "B2")}},                                    // B is no longer there
		{markets: []data.Market{market(2, 1, "A", "A")}},                                     // twice: no index follows
		{refs: []data.TokenRef{{TokenID: token(1, 0), Condition: condition(1), Outcome: 1}}}, // a source with the index
	}
	want := map[string]string{token(0, 0): "0 1 No 1", token(0, 1): "0 0 Yes 1", token(1, 0): "1 1 A 2", token(1, 1): "- <nil> B 1",
		token(2, 0): "- <nil> A 1", token(2, 1): "- <nil> Up 1", token(3, 0): "- <nil> Team A 1", token(3, 1): "3 1 Team B 1",
		token(4, 0): "- <nil> Ann 1", token(4, 1): "- <nil> Over 1"}
	rng := rand.New(rand.NewPCG(11, 9))
	for range testfiles.Cases(1, 6) {
		order := rng.Perm(len(steps))
		v := newVenue(t, steps)
		for nth, i := range order {
			v.importStep(i)
			if testfiles.Long() || nth%3 == 0 || nth == len(order)-1 {
				v.followed(t)
			}
		}
		v.verify(t)
		if got := v.paysFor(); !maps.Equal(got, want) {
			t.Errorf("%v: got %v, want %v", order, got, want)
		}
		before := v.live.Snapshot()
		for _, i := range slices.Backward(order) {
			if r := v.importStep(i); r.Inserted+r.TokensMapped+r.MarketsChanged > 0 {
				t.Errorf("%v: file %d once more: %+v", order, i, r)
			}
		}
		if v.live.Snapshot() != before {
			t.Errorf("%v: importing all once more changes the snapshot", order)
		}
		c, id := before.Catalog, data.TokenID(-1)
		for i := range data.TokenID(10) {
			if c.Token(i).ID == token(3, 0) {
				id = i
			}
		}
		if got := c.OutcomeLabel(c.Token(id)); got != "Team A" {
			t.Errorf("%v: token %d of no market is called %q", order, id, got)
		}
		v.rebuild()
		if _, differ := v.live.Snapshot().Compare(before); differ > 0 {
			t.Errorf("%v: %d things differ after a rebuild", order, differ)
		}
		v.close()
	}
}
