//go:build unix

package fillseg

import (
	"context"
	"errors"
	"os"
	"testing"

	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// A file that is cut off under a running service causes a fault when it is read: the store forgets
// it, nothing crashes, and the next build does not use it.
func TestAFileThatCannotBeReadIsForgotten(t *testing.T) {
	s := made(t, 50_000)
	defer func() { _ = s.Close() }()
	if err := os.Truncate(s.Path, segments.PageSize); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Tokens(nil, 3, 0); ok {
		t.Error("sums are read from a file that is gone")
	}
	if _, ok := s.Fills(nil, 3, 0, nil, 10); ok || s.Has(3, 0) || s.Stats().Ready {
		t.Errorf("s.Stats() = %+v", s.Stats())
	}
	grow(t, s.Store, 1, 700)
	if fills, ok := s.Fills(nil, 3, 1, nil, 1000); !ok || len(fills) != 100 {
		t.Errorf("after the next build: %d fills, %v", len(fills), ok)
	}
}

func TestABuildFromAFileThatCannotBeRead(t *testing.T) {
	s := made(t, 50_000)
	defer func() { _ = s.Close() }()
	if err := os.Truncate(s.Path, segments.PageSize); err != nil {
		t.Fatal(err)
	}
	s.mostFiles = 1
	s.Add(Batch{Number: 1})
	err := s.Build(context.Background(), s.Plan(), func(add func(int64, *serving.Fill) error) error {
		return add(1, &serving.Fill{TS: epoch * second, Repeat: 1})
	})
	var d *segments.Damage
	if !errors.As(err, &d) || s.Stats().Ready {
		t.Errorf("err = %v, s.Stats() = %+v", err, s.Stats())
	}
	grow(t, s.Store, 2, 700)
	if s.Stats().Stored != 700 {
		t.Errorf("s.Stats() = %+v", s.Stats())
	}
}
