package fillseg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

func TestADamagedFileIsNotUsed(t *testing.T) {
	s := made(t, 1000)
	path := s.Path
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	accept := func(segments.Coverage) (bool, error) { return true, nil }
	damage := map[string][]byte{"empty": {}, "cut": whole[:len(whole)-1], "longer": append(slices.Clone(whole), 0), "header only": whole[:segments.PageSize],
		"other version": slices.Clone(whole), "count": slices.Clone(whole), "magic": slices.Clone(whole)}
	damage["other version"][len(wholeFormats.first.Magic)]++
	damage["count"][len(wholeFormats.first.Magic)+40]++
	damage["magic"][0]++
	for name, text := range damage {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if ok, err := NewWalletStore(s.Path, scrambled{}).Open(accept); ok || err != nil {
			t.Errorf("%s: accepted %v, %v", name, ok, err)
		}
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	again := NewWalletStore(s.Path, scrambled{})
	if ok, err := again.Open(func(c segments.Coverage) (bool, error) {
		return c == segments.Coverage{Batch: 0, ImportLogHash: 5, Facts: 1000}, nil
	}); !ok || err != nil {
		t.Errorf("the complete file: accepted %v, %v", ok, err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// A file with every fill, or with fewer of the newest ones, is not accepted as one of the newest.
func TestAFileOfAnotherKindIsNotTaken(t *testing.T) {
	s := made(t, 100)
	accept := func(segments.Coverage) (bool, error) { return true, nil }
	if ok, err := NewTokenStore(s.Path, scrambled{}, 3).Open(accept); ok || err != nil {
		t.Errorf("every fill: accepted %v, %v", ok, err)
	}
	few := NewTokenStore(filepath.Join(t.TempDir(), "few.seg"), scrambled{}, 3)
	if err := few.Restart(-1, true); err != nil {
		t.Fatal(err)
	}
	grow(t, few.Store, 0, 100)
	for most, want := range map[int]bool{2: false, 3: true, 4: false} {
		again := NewTokenStore(few.Path, scrambled{}, most)
		if ok, err := again.Open(accept); ok != want || err != nil {
			t.Errorf("%d of each: accepted %v, %v", most, ok, err)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(s.Close(), few.Close()); err != nil {
		t.Error(err)
	}
}

func TestFilesOfAKilledBuildAreRemoved(t *testing.T) {
	s := made(t, 10)
	for _, name := range []string{"wallets.part-0", "wallets.part-0.tokens", "wallets.part-7"} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(s.Path), name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := NewWalletStore(s.Path, scrambled{})
	if ok, err := again.Open(func(segments.Coverage) (bool, error) { return true, nil }); !ok || err != nil {
		t.Fatalf("accepted %v, %v", ok, err)
	}
	defer func() { _ = again.Close() }()
	files, err := os.ReadDir(filepath.Dir(s.Path))
	if err != nil || len(files) != 1 {
		t.Errorf("left: files = %v, err = %v", files, err)
	}
}

func TestAnOutdatedBuildIsDropped(t *testing.T) {
	s := made(t, 10)
	defer func() { _ = s.Close() }()
	s.Add(Batch{Number: 1})
	p := s.Plan()
	err := s.Build(context.Background(), p, func(add func(int64, *serving.Fill) error) error {
		return errors.Join(add(1, &serving.Fill{TS: epoch * second, Repeat: 1}), s.Restart(9, false))
	})
	if err == nil || s.Stats().Ready {
		t.Errorf("err = %v, s.Stats() = %+v", err, s.Stats())
	}
}

func TestACancelledBuildChangesNothing(t *testing.T) {
	s := made(t, 10)
	defer func() { _ = s.Close() }()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Build(ctx, s.Plan(), func(func(int64, *serving.Fill) error) error { return nil }); err == nil {
		t.Error("no error")
	}
	if st := s.Stats(); !st.Ready || st.Stored != 10 {
		t.Errorf("st = %+v", st)
	}
	files, err := os.ReadDir(filepath.Dir(s.Path))
	if err != nil || len(files) != 1 {
		t.Errorf("left: files = %v, err = %v", files, err)
	}
}

// Readers continue in the old file while a new one replaces it.
func TestReadsWhileFilesAreSwapped(t *testing.T) {
	s := made(t, 700)
	defer func() { _ = s.Close() }()
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			var fills []serving.Fill
			var sums []serving.TokenSum
			for {
				select {
				case <-stop:
					return
				default:
				}
				through := s.Through()
				var ok bool
				if fills, ok = s.Fills(fills[:0], 3, through, nil, 1000); !ok && s.Through() > through {
					continue // the file of the next batch has replaced this one
				}
				if !ok || len(fills) != 100*int(through+1) {
					t.Errorf("batch %d: %d fills, found %v", through, len(fills), ok)
					return
				}
				for i := 1; i < len(fills); i++ {
					if fills[i-1].Compare(&fills[i], scrambled{}) <= 0 {
						t.Error("the fills are out of order")
						return
					}
				}
				if sums, ok = s.Tokens(sums[:0], 3, through); ok && len(sums) != 3 {
					t.Errorf("%d tokens", len(sums))
					return
				}
			}
		})
	}
	for batch := range int64(8) {
		grow(t, s.Store, batch+1, 700)
	}
	close(stop)
	readers.Wait()
	if got := fmt.Sprint(s.Stats().Stored, s.Contents().Files.Users()); got != "6300 1" {
		t.Errorf("fills and users of the last file: got %s", got)
	}
}
