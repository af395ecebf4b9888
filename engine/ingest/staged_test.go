package ingest_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/feeds/polygon"
	"pmx/data/testfiles"
	"pmx/engine/ingest"
)

// knownNames is a Directory of the names in the database.
type knownNames struct{ wallets, tokens []string }

func (k knownNames) Wallet(a data.Address) (data.WalletID, bool) {
	for id, name := range k.wallets {
		if name == hex.EncodeToString(a[:]) {
			return data.WalletID(id), true
		}
	}
	return 0, false
}

func (k knownNames) Token(tokenID string) (data.TokenID, bool) {
	for id, name := range k.tokens {
		if name == tokenID {
			return data.TokenID(id), true
		}
	}
	return 0, false
}

func (k knownNames) Known() (wallets, tokens int) { return len(k.wallets), len(k.tokens) }

// names reads them.
func (v *intake) names() (k knownNames) {
	list := func(query string) []string { return strings.Split(strings.ReplaceAll(v.lines(query), "|", ""), "\n") }
	wallets, tokens := list("SELECT lower(hex(address)) FROM wallets ORDER BY wallet"), list("SELECT token_id FROM tokens ORDER BY token")
	return knownNames{wallets[:len(wallets)-1], tokens[:len(tokens)-1]}
}

// numbered is a fill, and the number of its row.
type numbered struct {
	row int64
	data.Fill
}

// drawFills returns fills many of which are equal, have the same log, or are equal except for their
// log. Some have a value at a bound of the valid range, or beyond it.
func drawFills(rng *rand.Rand, now time.Time) (fills []numbered) {
	blocks, named := rng.IntN(2) == 1, rng.IntN(4) == 0
	txs, logs := 1+rng.IntN(40), 1+rng.IntN(40) // many: no two have the same log
	for range rng.IntN(12) {
		f := data.Fill{LogIndex: data.NoIndex, Outcome: data.NoIndex, TS: now.Add(-time.Duration(rng.IntN(4)) * 36 * time.Hour).UnixMicro(),
			Wallet: data.Address{byte(rng.IntN(4))}, TokenID: fmt.Sprint(9 - rng.IntN(4)), Side: data.Side(rng.IntN(2)), Role: data.Role(rng.IntN(3)),
			Shares: data.Micro(1 + rng.IntN(2)), USD: data.Micro(rng.IntN(2)), Fee: data.Micro(rng.IntN(2))}
		if n := rng.IntN(txs); n > 0 {
			f.Tx = data.Hash{31: byte(n)}
		}
		if rng.IntN(3) > 0 {
			f.LogIndex = int32(rng.IntN(logs))
		}
		if blocks {
			f.Block = int64(1 + rng.IntN(3))
		}
		if named && rng.IntN(2) == 1 {
			f.Name = fmt.Sprint("n", rng.IntN(2))
		}
		fills = append(fills, numbered{rng.Int64N(7), f})
	}
	if len(fills) > 0 && rng.IntN(3) == 0 {
		atBound(rng, &fills[rng.IntN(len(fills))].Fill, now)
	}
	return fills
}

// atBound sets a field to a bound, or one beyond it.
func atBound(rng *rand.Rand, f *data.Fill, now time.Time) {
	const most = 1_000_000_000_000_000
	one := func(of ...int64) int64 { return of[rng.IntN(len(of))] }
	bound := data.Micro(one(-most-1, -most, -1, 0, most, most+1))
	switch rng.IntN(6) {
	case 0:
		latest := now.Add(24 * time.Hour).UnixMicro()
		f.TS = one(0, 1, 1_577_836_799_999_999, 1_577_836_800_000_000, latest, latest+1)
	case 1:
		f.Shares = bound
	case 2:
		f.USD = bound
	case 3:
		f.Fee = bound
	case 4:
		f.TokenID = "c:" + strings.Repeat("ab", 32) + ":0"
	case 5:
		f.Condition, f.Outcome = data.Hash{1}, 0
	}
}

// byLog sorts fills by log, like those of a node, sometimes with one out of order.
func byLog(rng *rand.Rand, fills []numbered) {
	tx, index := 1, int32(0)
	for i := range fills {
		switch rng.IntN(4) {
		case 0:
			tx, index = tx+1, 0
		case 1:
			fills[i].Fill = fills[max(i-1, 0)].Fill
		}
		index += int32(1 + rng.IntN(2))
		fills[i].Tx, fills[i].LogIndex = data.Hash{0: byte(tx), 31: byte(rng.IntN(100) / 99)}, index
	}
	if n := len(fills); n > 1 && rng.IntN(4) == 0 {
		k := 1 + rng.IntN(n-1)
		fills[k-1], fills[k] = fills[k], fills[k-1]
	}
}

// rowsOf returns rows of fills. If a rejected row is among them, there are no stagedFills.
func rowsOf(fills []numbered, rejected bool) ingest.Rows {
	return ingest.Rows{Feed: polygon.Feed(), Name: "a batch", Read: func(_ context.Context, s data.Sink) error {
		for _, f := range fills {
			if err := s.Fill(f.row, f.Fill); err != nil {
				return err
			}
		}
		if !rejected {
			return nil
		}
		return s.Fill(100, data.Fill{LogIndex: data.NoIndex, Outcome: data.NoIndex, TS: 1, TokenID: "1", Shares: 1})
	}}
}

// TestWhatIsKnownOfStagedFillsIsWhatTheDatabaseFinds: facts, ids and receipts are the same as with
// statements, batch after batch.
func TestWhatIsKnownOfStagedFillsIsWhatTheDatabaseFinds(t *testing.T) {
	testfiles.InLong(t, "TestAnyOrderAndSplitOfFillsGivesTheSame imports random batches that repeat each other")
	now := time.Unix(1_700_000_000, 0)
	for seed := range uint64(testfiles.Cases(1, 6)) {
		rng := rand.New(rand.NewPCG(seed, 13))
		known, asked := open(t), open(t)
		for _, v := range []*intake{known, asked} {
			v.im.Now = func() time.Time { return now }
		}
		for n := range 14 {
			fills, opts := drawFills(rng, now), ingest.Options{}
			if n%3 == 2 { // as in a catch-up
				byLog(rng, fills)
				opts.Remaining.Fills = 1
			}
			for _, v := range []*intake{known, asked} {
				v.im.Directory = nil
				if n%2 == 1 {
					v.im.Directory = v.names()
				}
			}
			got, want := known.appendWith(rowsOf(fills, false), opts), asked.appendWith(rowsOf(fills, true), opts)
			want.Read--
			if want.Rejected["bad_time"]--; want.Rejected["bad_time"] == 0 {
				delete(want.Rejected, "bad_time")
			}
			got.Seconds, got.RejectedFile = want.Seconds, want.RejectedFile
			gotJSON, _ := json.Marshal(got)
			wantJSON, _ := json.Marshal(want)
			if diff := cmp.Diff(string(wantJSON), string(gotJSON)); diff != "" {
				t.Fatalf("seed %d: receipt of %+v (-asked +known):\n%s", seed, fills, diff)
			}
			if diff := cmp.Diff(asked.names(), known.names(), cmp.AllowUnexported(knownNames{})); diff != "" {
				t.Fatalf("seed %d: ids after %+v (-asked +known):\n%s", seed, fills, diff)
			}
		}
		if diff := cmp.Diff(asked.facts(), known.facts()); diff != "" {
			t.Fatalf("seed %d: facts (-asked +known):\n%s", seed, diff)
		}
	}
}
