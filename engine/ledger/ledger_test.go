package ledger_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/engine/ledger"
)

// venue is an empty database with one connection to write.
type venue struct {
	t  testing.TB
	db *engine.DB
}

func open(t testing.TB) *venue {
	t.Helper()
	db, err := engine.Open(context.Background(), enginetest.Options(t, t.TempDir(), "1GB"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &venue{t, db}
}

func (v *venue) in(f func(ctx context.Context, conn *sql.Conn) error) error {
	ctx := context.Background()
	return v.db.Write(ctx, func(conn *sql.Conn) error {
		return engine.InTx(ctx, conn, func() error { return f(ctx, conn) })
	})
}

func (v *venue) commit(f ledger.Filter, r ledger.Range) error {
	return v.in(func(ctx context.Context, conn *sql.Conn) error { return ledger.Commit(ctx, conn, f, r) })
}

func (v *venue) ranges(f ledger.Filter) (rs ledger.Ranges) {
	v.t.Helper()
	err := v.in(func(ctx context.Context, conn *sql.Conn) (err error) {
		rs, err = ledger.Load(ctx, conn, f)
		return err
	})
	if err != nil {
		v.t.Fatal(err)
	}
	return rs
}

func load(ctx context.Context, rt *rapid.T, conn *sql.Conn, f ledger.Filter) ledger.Ranges {
	rs, err := ledger.Load(ctx, conn, f)
	if err != nil {
		rt.Fatal(err)
	}
	return rs
}

// hashOf returns the hash of a block. All blocks are of one chain.
func hashOf(block int64) (h data.Hash) {
	binary.BigEndian.PutUint64(h[24:], uint64(block)+1)
	return h
}

// blocks returns the range from one block to another, with one fill and two logs per block.
func blocks(from, to int64) ledger.Range {
	r := ledger.Range{From: from, To: to, Parent: hashOf(from - 1), End: hashOf(to), EndTime: 1_700_000_000 + to, Provider: "rpc 1", FetchedAt: time.UnixMicro(to).UTC()}
	for b := from; b <= to; b++ {
		r.Logs, r.Fills, r.Digest = r.Logs+2, r.Fills+1, r.Digest+uint64(b)*0x9e3779b97f4a7c15
	}
	return r
}

// TestAnyOrderOfCommitsGivesTheSameGaps: gaps are the blocks that no range covers, and the prefix
// ends before the first one. Once every block is committed, there is one row.
func TestAnyOrderOfCommitsGivesTheSameGaps(t *testing.T) {
	v := open(t)
	version := 0
	check := func(ctx context.Context, rt *rapid.T, conn *sql.Conn) {
		version++
		f := ledger.Filter{Source: "chain", Version: version}
		const start, end = int64(10), int64(40)
		var parts []ledger.Range
		for from := start; from <= end; {
			to := min(end, from+rapid.Int64Range(0, 8).Draw(rt, "length"))
			parts = append(parts, blocks(from, to))
			from = to + 1
		}
		known := rapid.Bool().Draw(rt, "parents are known")
		if !known {
			for i := range parts {
				parts[i].Parent = data.Hash{}
			}
		}
		covered := map[int64]bool{}
		for _, r := range rapid.Permutation(parts).Draw(rt, "order") {
			if err := ledger.Commit(ctx, conn, f, r); err != nil {
				rt.Fatal(err)
			}
			for b := r.From; b <= r.To; b++ {
				covered[b] = true
			}
			if err := ledger.Commit(ctx, conn, f, blocks(r.To, r.To+1)); !errors.Is(err, ledger.ErrOverlap) {
				rt.Fatalf("a range that is committed was committed again: %v", err)
			}
			rs := load(ctx, rt, conn, f)
			var gaps []ledger.Gap
			prefix := start - 1
			for b := start; b <= end+1; b++ {
				if covered[b] {
					if prefix == b-1 {
						prefix = b
					}
					continue
				}
				if n := len(gaps); n > 0 && gaps[n-1].To == b-1 {
					gaps[n-1].To = b
				} else {
					gaps = append(gaps, ledger.Gap{From: b, To: b})
				}
			}
			if diff := cmp.Diff(gaps, rs.Gaps(start, end+1)); diff != "" {
				rt.Fatalf("gaps (-want +got):\n%s", diff)
			}
			last, ok := rs.Prefix(start)
			if ok != (prefix >= start) || ok && (last.To != prefix || last.End != hashOf(prefix) || last.EndTime != 1_700_000_000+prefix) {
				rt.Fatalf("prefix %v %+v, want its end at %d", ok, last, prefix)
			}
		}
		rs := load(ctx, rt, conn, f)
		if known {
			if diff := cmp.Diff(ledger.Ranges{blocks(start, end)}, rs); diff != "" {
				rt.Errorf("all of them (-want +got):\n%s", diff)
			}
		} else if len(rs) != len(parts) {
			rt.Errorf("%d ranges became %d, although no hash shows that they are of one chain", len(parts), len(rs))
		}
		if gaps := rs.Gaps(start, end); len(gaps) > 0 {
			rt.Errorf("gaps %v", gaps)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		err := v.in(func(ctx context.Context, conn *sql.Conn) error {
			check(ctx, rt, conn)
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// TestRangesOfAnotherChainAreRefused on either side, and so are invalid ranges.
func TestRangesOfAnotherChainAreRefused(t *testing.T) {
	v := open(t)
	f := ledger.Filter{Source: "chain", Version: 1}
	if err := v.commit(f, blocks(10, 19)); err != nil {
		t.Fatal(err)
	}
	other := blocks(20, 29)
	other.Parent = hashOf(1000)
	if err := v.commit(f, other); !errors.Is(err, ledger.ErrFork) {
		t.Errorf("after a range: %v", err)
	}
	other = blocks(5, 9)
	other.End = hashOf(1000)
	if err := v.commit(f, other); !errors.Is(err, ledger.ErrFork) {
		t.Errorf("before a range: %v", err)
	}
	for _, r := range []ledger.Range{{From: 30, To: 29, End: hashOf(29)}, {From: -1, To: 3, End: hashOf(3)}, {From: 30, To: 31}} {
		if err := v.commit(f, r); err == nil {
			t.Errorf("%+v was committed", r)
		}
	}
	if diff := cmp.Diff(ledger.Ranges{blocks(10, 19)}, v.ranges(f)); diff != "" {
		t.Error(diff)
	}
	if err := v.commit(ledger.Filter{Source: "chain", Version: 2}, blocks(15, 16)); err != nil {
		t.Errorf("another version: %v", err)
	}
	if r, ok := v.ranges(f).Ending(19); !ok || r.From != 10 {
		t.Errorf("ok = %v, r = %+v", ok, r)
	}
	if _, ok := v.ranges(f).Ending(18); ok {
		t.Error("a range ends inside another")
	}
}

// TestGapsOfPartsOfTheChain: what is outside start … end does not matter.
func TestGapsOfPartsOfTheChain(t *testing.T) {
	rs := ledger.Ranges{blocks(0, 4), blocks(8, 12), blocks(20, 24)}
	for _, tc := range []struct {
		start, end int64
		want       []ledger.Gap
	}{
		{0, 24, []ledger.Gap{{From: 5, To: 7}, {From: 13, To: 19}}},
		{6, 14, []ledger.Gap{{From: 6, To: 7}, {From: 13, To: 14}}},
		{9, 11, nil},
		{22, 30, []ledger.Gap{{From: 25, To: 30}}},
		{30, 31, []ledger.Gap{{From: 30, To: 31}}},
		{30, 29, nil},
	} {
		if got := rs.Gaps(tc.start, tc.end); !slices.Equal(got, tc.want) {
			t.Errorf("%d–%d: got %v, want %v", tc.start, tc.end, got, tc.want)
		}
	}
	if (ledger.Gap{From: 5, To: 7}).Blocks() != 3 {
		t.Error("5, 6, 7 are three blocks")
	}
}

// TestCursorsOfSources: each source has its own cursor, which is committed with the transaction.
func TestCursorsOfSources(t *testing.T) {
	v := open(t)
	own := errors.New("no")
	set := func(source, state string, end error) {
		t.Helper()
		if err := v.in(func(ctx context.Context, conn *sql.Conn) error {
			return errors.Join(ledger.SetCursor(ctx, conn, source, state), end)
		}); !errors.Is(err, end) {
			t.Fatal(err)
		}
	}
	set("chain", `{"a":1}`, nil)
	set("gamma", `{"b":1}`, nil)
	set("chain", `{"a":2}`, nil)
	set("gamma", `{"b":2}`, own)
	want := map[string]string{"chain": `{"a":2}`, "gamma": `{"b":1}`, "none": ""}
	for source, state := range want {
		err := v.in(func(ctx context.Context, conn *sql.Conn) error {
			got, err := ledger.Cursor(ctx, conn, source)
			if got != state {
				t.Errorf("%s: got %s, want %s", source, got, state)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
