package fillseg

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"pmx/data"
	"pmx/engine/guard"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// manyFills are fills of 40 wallets and 30 tokens; the first ones have most.
func manyFills(n int) (fills []serving.Fill) {
	for i := range n {
		wallet := data.WalletID(i % 40 * (i % 7) / 6)
		fills = append(fills, serving.Fill{TS: (epoch + int64(i*31%997)) * second, Tx: data.Hash{byte(i / 2), byte(i >> 9), 1}, Wallet: wallet,
			Token: data.TokenID(i * i % 30), Repeat: 1, LogIndex: data.NoIndex, Shares: data.Micro(i+1) * 10_000, USD: data.Micro(i)})
	}
	return fills
}

// buildIn builds a store of fills in two files, the second one of which takes in the first.
func buildIn(s *Store, fills []serving.Fill) error {
	s.heavyFrom, s.laterHeavy, s.bufferFills, s.mostFiles = 50, 20, 100, 1
	s.Sync = func(*os.File) error { return nil }
	if err := s.Restart(-1, true); err != nil {
		return err
	}
	half := len(fills) * 2 / 3
	for batch, of := range [][]serving.Fill{fills[:half], fills[half:]} {
		s.Add(Batch{Number: int64(batch), Fills: append([]serving.Fill(nil), of...)})
		err := s.Build(context.Background(), s.Plan(), func(add func(int64, *serving.Fill) error) error {
			for i := range of {
				if err := add(int64(batch), &of[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// TestRangesAreMergedAsOne: a file does not depend on how its keys were divided.
func TestRangesAreMergedAsOne(t *testing.T) {
	fills := manyFills(3000)
	for _, byToken := range []bool{false, true} {
		var want []byte
		for _, size := range []uint64{1 << 30, 10_000, 1000, 30, 0} {
			s := NewWalletStore(filepath.Join(t.TempDir(), "a.seg"), scrambled{}).Store
			if byToken {
				s = NewTokenStore(filepath.Join(t.TempDir(), "a.seg"), scrambled{}, 10).Store
			}
			s.rangeSize = size
			if err := buildIn(s, fills); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(s.Path)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Errorf("by token %v, ranges of %d bytes: the file differs", byToken, size)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// mergeInRanges merges a file of many fills in ranges of few bytes. start begins the other mergers.
func mergeInRanges(ctx context.Context, t *testing.T, start starter) error {
	t.Helper()
	s := NewWalletStore(filepath.Join(t.TempDir(), "a.seg"), scrambled{})
	defer func() { _ = s.Close() }()
	if err := buildIn(s.Store, manyFills(2000)); err != nil {
		t.Fatal(err)
	}
	in := input{segment: segment{s.Contents().Files.Last()}}
	out := output{path: s.Path + ".part-9", heavy: math.MaxInt, sync: s.Sync, finished: func(uint64) {}}
	return s.merge(ctx, &out, []input{in}, 10, start)
}

// TestAMergeEndsAsItsRangesDo: no merger waits for one that has failed, and the first reason is the merge's.
func TestAMergeEndsAsItsRangesDo(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, c := range []struct {
		what  string
		ctx   context.Context
		start starter
		want  error
	}{
		{"nothing fails", context.Background(), guard.Start, nil},
		{"a merger cannot begin", context.Background(), func(func() error) <-chan error { return guard.Start(func() error { return segments.ErrFormat }) }, segments.ErrFormat},
		{"it is cancelled", ctx, func(f func() error) <-chan error { cancel(); return guard.Start(f) }, context.Canceled},
	} {
		if err := mergeInRanges(c.ctx, t, c.start); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
	}
	defer func() {
		if p, ok := recover().(*guard.Panic); !ok || p.Value != "here" {
			t.Errorf("the merge ended with %v", p)
		}
	}()
	err := mergeInRanges(context.Background(), t, func(func() error) <-chan error { return guard.Start(func() error { panic("here") }) })
	t.Errorf("err = %v", err)
}
