package feeds_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/chain/encode"
	"pmx/data/feeds/polygon"
)

var negRiskModule = data.Address{0x20, 0, 0, 0x90, 0, 0x45, 0xe3, 0xb6, 0x25, 0x96, 0, 0x68, 0x27, 0x56, 0, 0x22, 0, 0x02, 0x89, 0x33}

// groupOf returns an event of protocol V2 with its conditions.
func groupOf(conditions int) (event data.Hash) {
	event[0], event[1] = 2, 0xab
	binary.BigEndian.PutUint16(event[17:], uint16(conditions))
	event[28] = 0x89
	return event
}

func memberOf(event data.Hash, number int) data.Hash {
	binary.BigEndian.PutUint16(event[29:], uint16(number))
	return event
}

// ofModule is a log of the module of negative risk, in the nth transaction.
func ofModule(tx, index int, write func(l *encode.Log)) string {
	l := encode.Log{Address: negRiskModule, Block: 91660288 + int64(tx), Time: 1786195459 + int64(tx), Tx: data.Hash{31: byte(tx)}, Index: index}
	write(&l)
	return string(l.AppendJSON(nil))
}

func pays(event data.Hash, number int, yes data.Micro) func(l *encode.Log) {
	return func(l *encode.Log) { l.Resolved(memberOf(event, number), [2]data.Micro{yes, data.One - yes}) }
}

func decides(event data.Hash) func(l *encode.Log) { return func(l *encode.Log) { l.Decided(event) } }

func migrates(event data.Hash, number int) func(l *encode.Log) {
	return func(l *encode.Log) {
		l.Migrated(memberOf(event, number), data.Hash{1: 1}, [2]data.Micro{data.One, 0})
	}
}

// saidOf formats the payouts that logs give for an event's conditions, by number, with their
// sources, and the notes.
func saidOf(logs ...string) string {
	b := polygon.NewBatch(chain.Contracts())
	for _, l := range logs {
		b.Add([]byte(l))
	}
	c := &collect{}
	if err := polygon.Rows([]*polygon.Batch{b})(context.Background(), c); err != nil {
		return err.Error()
	}
	var out []string
	for _, r := range c.resolutions {
		_, number := chain.Group(r.Condition)
		out = append(out, fmt.Sprintf("%d=%d %s %s", number, r.Payouts[0], r.Source, r.TimeBy()))
	}
	slices.Sort(out)
	out = append(out, slices.Sorted(maps.Keys(c.notes))...)
	for _, r := range c.rejects {
		out = append(out, r.Reason)
	}
	return strings.Join(slices.Compact(out), ", ")
}

// TestPayoutsThatFollow: if a condition of an event is reported to pay yes, and the same
// transaction says that the event is decided, the others pay no, and so does "other". Nothing is
// guessed.
func TestPayoutsThatFollow(t *testing.T) {
	e := groupOf(3)
	for name, tc := range map[string]struct {
		logs []string
		want string
	}{
		"the winner and what remains": {[]string{ofModule(1, 1, pays(e, 1, data.One)), ofModule(1, 2, decides(e))},
			"0=0 derived oracle, 1=1000000 chain chain, 2=0 derived oracle, 3=0 derived oracle"},
		"one was reported before": {[]string{ofModule(1, 1, pays(e, 0, 0)), ofModule(2, 1, pays(e, 2, data.One)), ofModule(2, 2, decides(e))},
			"0=0 chain chain, 0=0 derived oracle, 1=0 derived oracle, 2=1000000 chain chain, 3=0 derived oracle"},
		"taken over from protocol V1": {[]string{ofModule(1, 1, pays(e, 1, data.One)), ofModule(1, 2, decides(e)), ofModule(1, 3, migrates(e, 1))},
			"1=1000000 chain chain, 3=0 derived oracle"},
		"another event in the transaction": {[]string{ofModule(1, 1, pays(groupOf(4), 1, data.One)), ofModule(1, 2, decides(e))},
			"1=1000000 chain chain, remaining_without_winner, winner_without_remaining"},
		"the winner in another transaction": {[]string{ofModule(1, 1, pays(e, 1, data.One)), ofModule(2, 2, decides(e))},
			"1=1000000 chain chain, remaining_without_winner, winner_without_remaining"},
		"nobody wins":         {[]string{ofModule(1, 1, pays(e, 1, 0)), ofModule(1, 2, decides(e))}, "1=0 chain chain, remaining_without_winner"},
		"half a winner":       {[]string{ofModule(1, 1, pays(e, 1, data.One/2)), ofModule(1, 2, decides(e))}, "1=500000 chain chain, remaining_without_winner"},
		"other wins":          {[]string{ofModule(1, 1, pays(e, 3, data.One)), ofModule(1, 2, decides(e))}, "3=1000000 chain chain, remaining_of_other"},
		"too many conditions": {[]string{ofModule(1, 1, pays(groupOf(60_000), 1, data.One)), ofModule(1, 2, decides(groupOf(60_000)))}, "1=1000000 chain chain, remaining_of_many"},
		"an event of one":     {[]string{ofModule(1, 2, decides(groupOf(1)))}, "bad_condition"},
		"a condition":         {[]string{ofModule(1, 2, decides(memberOf(e, 1)))}, "bad_condition"},
		"all say no": {[]string{ofModule(1, 2, func(l *encode.Log) {
			l.Topics = []data.Hash{encode.Hash("0x5bea118d92630445b0b401b6883731630ed870edf2f259980efe977dfc128b36"), e, memberOf(e, 3)}
		})}, "3=1000000 derived oracle"},
	} {
		if got := saidOf(tc.logs...); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tc.want)
		}
	}
	b := polygon.NewBatch(chain.Contracts())
	b.Add([]byte(ofModule(1, 2, decides(e))))
	if got := b.Resolved(); !slices.Equal(got, []data.Hash{memberOf(e, 0), memberOf(e, 1), memberOf(e, 2), memberOf(e, 3)}) {
		t.Errorf("requested: %v", got)
	}
}

// TestPayoutsThatFollowDoNotDependOnOrder of the logs in a file or a batch, nor on how transactions
// are distributed over batches.
func TestPayoutsThatFollowDoNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := groupOf(rapid.IntRange(2, 40).Draw(t, "conditions"))
		var logs []string
		txs := rapid.IntRange(1, 5).Draw(t, "transactions")
		for tx := range txs {
			number := rapid.IntRange(0, 39).Draw(t, "number")
			logs = append(logs, ofModule(tx, 1, pays(e, number, data.One)))
			if rapid.Bool().Draw(t, "decided") {
				logs = append(logs, ofModule(tx, 2, decides(e)))
			}
			if rapid.Bool().Draw(t, "migrated") {
				logs = append(logs, ofModule(tx, 3, migrates(e, number)))
			}
		}
		want := saidOf(logs...)
		if diff := cmp.Diff(want, saidOf(rapid.Permutation(logs).Draw(t, "order")...)); diff != "" {
			t.Fatal(diff)
		}
	})
}
