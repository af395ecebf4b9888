package textseg

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// world is a database of texts and a store.
type world struct {
	t     *rapid.T
	path  string
	store *Store
	texts map[int32]serving.MarketTexts
	batch int64
	last  int64 // the last batch that changed a text
}

const markets = 9

func (w *world) add() {
	w.batch++
	changed := map[int32]serving.MarketTexts{}
	word := func(name string) string {
		return strings.Repeat(rapid.SampledFrom([]string{"", "a", "é", "long "}).Draw(w.t, name), rapid.IntRange(0, 200).Draw(w.t, "times"))
	}
	for range rapid.IntRange(0, 4).Draw(w.t, "changes") {
		market := int32(rapid.IntRange(0, markets-1).Draw(w.t, "market"))
		changed[market] = serving.MarketTexts{Description: word("description"), ResolutionSource: word("source"), GroupItemTitle: word("title"),
			PayoutSource: data.ResolutionSource(rapid.IntRange(0, 5).Draw(w.t, "payout"))}
		w.texts[market], w.last = changed[market], w.batch
	}
	w.store.Add(w.batch, changed)
}

func (w *world) all(add func(int32, *serving.MarketTexts) error) error {
	for market := range int32(markets) {
		if t, known := w.texts[market]; known {
			if err := add(market, &t); err != nil {
				return err
			}
		}
	}
	return nil
}

// build writes the file; a batch may be added meanwhile.
func (w *world) build() {
	p := w.store.Plan()
	p.ImportLogHash = 77
	err := w.store.Build(p, func(add func(int32, *serving.MarketTexts) error) error {
		if err := w.all(add); err != nil {
			return err
		}
		if rapid.Bool().Draw(w.t, "meanwhile") {
			w.add()
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if s := w.store.Stats(); !s.Ready || w.batch == p.Batch && s.Recent > 0 {
		w.t.Fatalf("after a build: s = %+v", s)
	}
}

func (w *world) restart() {
	if err := w.store.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.store = w.open()
	ok, err := w.store.Open(func(c segments.Coverage) (bool, error) { return w.last <= c.Batch && c.ImportLogHash == 77, nil })
	if err == nil && ok {
		w.store.Add(w.batch, nil)
	} else if err == nil {
		err = w.store.Restart(w.batch, len(w.texts) == 0)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) open() *Store {
	s := New(w.path)
	s.Sync = func(*os.File) error { return nil }
	return s
}

func (w *world) check() {
	ready, bytes := w.store.Stats().Ready, int64(0)
	for _, t := range w.texts {
		bytes += int64(len(t.Description) + len(t.ResolutionSource) + len(t.GroupItemTitle))
	}
	if s := w.store.Stats(); s.Text > bytes || s.Recent > int64(len(w.texts)) {
		w.t.Fatalf("%d bytes of texts: s = %+v", bytes, s)
	}
	for market := int32(-1); market <= markets; market++ {
		want, known := w.texts[market]
		got, ok := w.store.Texts(market, w.batch)
		if ok != (known && ready) || ok && got != want {
			w.t.Fatalf("market %d: got %+v, %v\nwant %+v, %v", market, got, ok, want, known)
		}
		if w.store.Has(market, w.batch) != ok {
			w.t.Fatal("Has and Texts disagree")
		}
		if _, ok := w.store.Texts(market, w.batch+1); ok {
			w.t.Fatal("a batch that was not added is in memory")
		}
	}
}

func TestStoreAndDatabaseGiveTheSameTexts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "pmx-textseg-")
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		w := &world{t: rt, path: filepath.Join(dir, "markets.seg"), texts: map[int32]serving.MarketTexts{}, batch: -1, last: -1}
		w.store = w.open()
		defer func() { _ = w.store.Close() }()
		if err := w.store.Restart(-1, true); err != nil {
			rt.Fatal(err)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"add":     func(*rapid.T) { w.add() },
			"build":   func(*rapid.T) { w.build() },
			"restart": func(*rapid.T) { w.restart() },
			"":        func(*rapid.T) { w.check() },
		})
	})
}

// made returns a store with a built file of n markets.
func made(t *testing.T, n int) *Store {
	t.Helper()
	s := New(filepath.Join(t.TempDir(), "markets.seg"))
	if err := s.Restart(0, false); err != nil {
		t.Fatal(err)
	}
	rewrite(t, s, n)
	return s
}

func rewrite(t *testing.T, s *Store, n int) {
	t.Helper()
	err := s.Build(s.Plan(), func(add func(int32, *serving.MarketTexts) error) error {
		for i := range n {
			if err := add(int32(i), described(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func described(i int) *serving.MarketTexts {
	return &serving.MarketTexts{Description: strings.Repeat(fmt.Sprint("Rules of ", i, ". "), 20), GroupItemTitle: fmt.Sprint(i)}
}

func TestADamagedFileIsNotUsed(t *testing.T) {
	s := made(t, 100)
	whole, err := os.ReadFile(s.Path)
	if err != nil || s.Close() != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"empty": {}, "cut": whole[:len(whole)-1], "header only": whole[:segments.PageSize],
		"header": append([]byte{'x'}, whole[1:]...), "count": slices.Concat(whole[:60], []byte{9}, whole[61:])} {
		if err := os.WriteFile(s.Path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if ok, err := New(s.Path).Open(func(segments.Coverage) (bool, error) { return true, nil }); ok || err != nil {
			t.Errorf("%s: accepted %v, %v", name, ok, err)
		}
	}
}

// An invalid record, in a file that something else wrote to, is left to the database.
func TestReadRecordRefusesWhatIsNone(t *testing.T) {
	good := appendRecord(nil, described(1))
	if got, ok := readRecord(good); !ok || got != *described(1) {
		t.Errorf("got %+v, ok = %v", got, ok)
	}
	for _, b := range [][]byte{nil, {1}, {1, 200}, {1, 5, 0}, {1, 0, 9, 'a'}, {1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0}, good[:20]} {
		if got, ok := readRecord(b); ok {
			t.Errorf("%v: got %+v", b, got)
		}
	}
}

func TestAnOutdatedBuildIsDropped(t *testing.T) {
	s := made(t, 10)
	defer func() { _ = s.Close() }()
	err := s.Build(s.Plan(), func(func(int32, *serving.MarketTexts) error) error { return s.Restart(9, false) })
	if !errors.Is(err, segments.ErrStoreRestarted) || s.Stats().Ready {
		t.Errorf("err = %v, s.Stats() = %+v", err, s.Stats())
	}
}

func TestAFailedBuildChangesNothing(t *testing.T) {
	s := made(t, 10)
	defer func() { _ = s.Close() }()
	broken := errors.New("broken")
	if err := s.Build(s.Plan(), func(func(int32, *serving.MarketTexts) error) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if st := s.Stats(); !st.Ready || st.Stored != 10 {
		t.Errorf("st = %+v", st)
	}
	if files, err := os.ReadDir(filepath.Dir(s.Path)); err != nil || len(files) != 1 {
		t.Errorf("left: files = %v, err = %v", files, err)
	}
}

// Readers continue in the old file while a new one replaces it.
func TestReadsWhileFilesAreSwapped(t *testing.T) {
	s := made(t, 100)
	defer func() { _ = s.Close() }()
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if got, ok := s.Texts(int32(i%100), 0); !ok || got != *described(i % 100) {
					t.Errorf("market %d: %+v %v", i%100, got, ok)
					return
				}
			}
		})
	}
	for batch := range int64(8) {
		s.Add(batch+1, map[int32]serving.MarketTexts{3: *described(3)})
		rewrite(t, s, 100)
	}
	close(stop)
	readers.Wait()
	if users := s.Contents().Files.Users(); users != 1 {
		t.Errorf("%d readers hold the last file", users)
	}
}
