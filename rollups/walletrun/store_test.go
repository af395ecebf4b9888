package walletrun

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	godiff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/serving"
)

// fact is a fill in the database of a test.
type fact struct {
	wallet int32
	batch  int64
	serving.Fill
}

// world is a database of facts and a store beside it.
type world struct {
	t     *rapid.T
	dir   string
	store *Store
	facts []fact
	batch int64
}

const wallets = 5

func (w *world) fill() serving.Fill {
	amount := func(name string) data.Micro {
		return data.Micro(rapid.SampledFrom([]int64{0, 1, 2, 1_500_000, mostUSD, mostUSD + 1, 1e15}).Draw(w.t, name))
	}
	f := serving.Fill{
		TS:       1_700_000_000_000_000 + int64(rapid.IntRange(0, 5).Draw(w.t, "ts"))*40_000_000_000 + int64(rapid.IntRange(0, 1).Draw(w.t, "µs")),
		Token:    int32(rapid.IntRange(0, 90).Draw(w.t, "token")),
		Side:     data.Side(rapid.IntRange(0, 1).Draw(w.t, "side")),
		Role:     data.Role(rapid.IntRange(0, 2).Draw(w.t, "role")),
		LogIndex: int32(rapid.SampledFrom([]int{-1, 0, 7, mostLog, mostLog + 1}).Draw(w.t, "log")),
		Repeat:   int16(rapid.SampledFrom([]int{1, 1, 2, 300}).Draw(w.t, "repeat")),
		Shares:   amount("shares"), USD: amount("usd"),
		Fee: data.Micro(rapid.SampledFrom([]int64{0, 3, 1 << 22, mostFee, mostFee + 1}).Draw(w.t, "fee")),
	}
	f.Tx[0], f.Tx[31] = byte(rapid.IntRange(0, 1).Draw(w.t, "tx")), byte(rapid.IntRange(0, 2).Draw(w.t, "tx end"))
	return f
}

// add imports fills; some replace one that was there.
func (w *world) add() {
	w.batch++
	b := Batch{Number: w.batch, Fills: map[int32][]serving.Fill{}}
	for range rapid.IntRange(0, 40).Draw(w.t, "fills") {
		wallet := int32(rapid.IntRange(0, wallets-1).Draw(w.t, "wallet"))
		f := w.fill()
		if slices.ContainsFunc(w.facts, func(o fact) bool { return o.wallet == wallet && o.Compare(&f) == 0 }) {
			continue
		}
		w.facts = append(w.facts, fact{wallet, w.batch, f})
		b.Fills[wallet] = append(b.Fills[wallet], f)
	}
	if n := len(w.facts); n > 0 && rapid.IntRange(0, 3).Draw(w.t, "replace") == 0 {
		i := rapid.IntRange(0, n-1).Draw(w.t, "which")
		if o := w.facts[i]; o.batch < w.batch {
			w.facts = slices.Delete(w.facts, i, i+1)
			o.batch, o.Role, o.Fee = w.batch, data.Taker, 5
			w.facts = append(w.facts, o)
			b.Fills[o.wallet] = append(b.Fills[o.wallet], o.Fill)
			b.Replaced = append(b.Replaced, o.wallet)
		}
	}
	w.store.Add(b)
}

// of gives a wallet's facts up to a batch, oldest first.
func (w *world) of(wallet int32, batch int64) []serving.Fill {
	var out []serving.Fill
	for _, f := range w.facts {
		if f.wallet == wallet && f.batch <= batch {
			out = append(out, f.Fill)
		}
	}
	slices.SortFunc(out, func(x, y serving.Fill) int { return x.Compare(&y) })
	return out
}

func (w *world) build() {
	p := w.store.Plan()
	p.Ledger = 77
	err := w.store.Build(context.Background(), p, func(add func(int32, *serving.Fill) error) error {
		for _, f := range w.facts {
			if f.batch <= p.Batch && (f.batch > p.After || slices.Contains(p.Again, f.wallet)) {
				if err := add(f.wallet, &f.Fill); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if s := w.store.Stats(); !s.Ready || s.Dirty > 0 || s.Tail > 0 || s.Run != int64(len(w.facts)) {
		w.t.Fatalf("after a build of %d fills: %+v", len(w.facts), s)
	}
}

// restart is what a new process does: it takes the file where it still fits.
func (w *world) restart() {
	if err := w.store.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.store = w.open()
	ok, err := w.store.Open(func(c Covers) (bool, error) {
		held := int64(0)
		for _, f := range w.facts {
			if f.batch <= c.Batch {
				held++
			}
		}
		return held == c.Fills && c.Ledger == 77, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if !ok {
		if err := w.store.Restart(w.batch, len(w.facts) == 0); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	for n := w.store.Through() + 1; n <= w.batch; n++ {
		b := Batch{Number: n, Fills: map[int32][]serving.Fill{}}
		for _, f := range w.facts {
			if f.batch == n {
				b.Fills[f.wallet] = append(b.Fills[f.wallet], f.Fill)
			}
		}
		w.store.Add(b)
	}
}

func (w *world) open() *Store {
	s := New(w.dir)
	s.heavy, s.slice, s.sync = 8, 16, func(*os.File) error { return nil }
	return s
}

func (w *world) check() {
	for wallet := range int32(wallets + 1) {
		want := w.of(wallet, w.batch)
		got, ok := w.store.Fills(nil, wallet, w.batch, nil, len(w.facts)+1)
		if ok != w.store.Has(wallet, w.batch) {
			w.t.Fatal("Has and Fills disagree")
		}
		if !ok {
			continue
		}
		newest := slices.Clone(want)
		slices.Reverse(newest)
		same(w.t, "fills", newest, got)
		w.pages(wallet, newest)
		w.sums(wallet, want)
	}
	if _, ok := w.store.Fills(nil, 0, w.batch+1, nil, 1); ok {
		w.t.Fatal("a batch that was never added is at hand")
	}
}

func same[T comparable](t *rapid.T, what string, want, got []T) {
	t.Helper()
	if !slices.Equal(want, got) {
		if diff := godiff.Diff(want, got); diff != "" {
			t.Fatalf("%s (-facts +store):\n%s", what, diff)
		}
	}
}

// pages walks through a wallet's fills in pages.
func (w *world) pages(wallet int32, newest []serving.Fill) {
	n := rapid.IntRange(1, 7).Draw(w.t, "page")
	var seen []serving.Fill
	var after *serving.Fill
	for {
		page, _ := w.store.Fills(nil, wallet, w.batch, after, n)
		seen = append(seen, page...)
		if len(page) < n {
			break
		}
		after = &page[n-1]
	}
	same(w.t, "walk", newest, seen)
}

func (w *world) sums(wallet int32, fills []serving.Fill) {
	byToken := map[int32]*serving.TokenSum{}
	var wantDays []serving.DaySum
	for _, f := range fills {
		if byToken[f.Token] == nil {
			byToken[f.Token] = &serving.TokenSum{}
		}
		byToken[f.Token].Add(&f)
		if n := len(wantDays) - 1; n < 0 || wantDays[n].Day != serving.DayOf(f.TS) {
			wantDays = append(wantDays, serving.DaySum{})
		}
		wantDays[len(wantDays)-1].Add(&f)
	}
	var want []serving.TokenSum
	for _, s := range byToken {
		want = append(want, *s)
	}
	byID := func(x, y serving.TokenSum) int { return cmp.Compare(x.Token, y.Token) }
	slices.SortFunc(want, byID)
	got, _ := w.store.Tokens(nil, wallet, w.batch)
	slices.SortFunc(got, byID)
	same(w.t, "tokens", want, got)
	days, _ := w.store.Days(nil, wallet, w.batch)
	same(w.t, "days", wantDays, days)
}

func TestStoreAndFactsGiveTheSameRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp("", "pmx-walletrun-")
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		w := &world{t: rt, dir: dir, batch: -1}
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

// A fill whose amounts need every bit comes back as it was.
func TestRowsKeepEveryBit(t *testing.T) {
	const last = (epoch + mostTime) * second
	most := serving.Fill{TS: last, Token: mostToken, Side: data.Sell, Role: data.Taker, LogIndex: mostLog, Repeat: 1,
		Shares: mostUSD, USD: mostUSD, Fee: mostFee}
	first := serving.Fill{TS: epoch * second, LogIndex: data.NoIndex, Repeat: 1}
	fills := []serving.Fill{first, most}
	for _, change := range []func(f *serving.Fill){
		func(f *serving.Fill) { f.TS++ }, func(f *serving.Fill) { f.Shares = mostUSD + 1 }, func(f *serving.Fill) { f.USD = 1 << 60 },
		func(f *serving.Fill) { f.Fee = mostFee + 1 }, func(f *serving.Fill) { f.LogIndex = mostLog + 1 }, func(f *serving.Fill) { f.Repeat = 2 },
		func(f *serving.Fill) { f.Shares = 1 << 34 }, func(f *serving.Fill) { f.Fee = 1 << 22 },
	} {
		f := first
		change(&f)
		fills = append(fills, f)
	}
	for _, f := range fills {
		r, err := pack(&f, noTx, 0)
		if err != nil {
			t.Fatal(err)
		}
		part := appendWide(nil, &f)
		if got := r.unpack(part); got != f {
			t.Errorf("got  %+v\nwant %+v", got, f)
		}
		if r.wide() == fits(&f) {
			t.Errorf("%+v: wide %v", f, r.wide())
		}
	}
	for _, f := range []serving.Fill{{TS: epoch*second - 1}, {TS: last + second}, {TS: last, Token: -1}, {TS: last, Token: mostToken + 1}} {
		if _, err := pack(&f, 0, 0); err == nil {
			t.Errorf("%+v was packed", f)
		}
	}
}

// made gives a store with a built file of n fills.
func made(t *testing.T, n int) *Store {
	t.Helper()
	s := New(t.TempDir())
	if err := s.Restart(-1, true); err != nil {
		t.Fatal(err)
	}
	grow(t, s, 0, n)
	return s
}

// grow adds a batch of n fills and builds.
func grow(t *testing.T, s *Store, batch int64, n int) {
	t.Helper()
	facts := map[int32][]serving.Fill{}
	for i := range n {
		facts[int32(i%7)] = append(facts[int32(i%7)], serving.Fill{TS: epoch*second + batch*1e9 + int64(i), Tx: data.Hash{byte(i), byte(batch)}, Token: int32(i % 3), Repeat: 1, Shares: 1})
	}
	s.Add(Batch{Number: batch, Fills: facts})
	p := s.Plan()
	p.Ledger = 5
	err := s.Build(context.Background(), p, func(add func(int32, *serving.Fill) error) error {
		for wallet, fills := range facts {
			for i := range fills {
				if err := add(wallet, &fills[i]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestADamagedFileIsNotTaken(t *testing.T) {
	s := made(t, 1000)
	path := s.path()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	accept := func(Covers) (bool, error) { return true, nil }
	damage := map[string][]byte{"empty": {}, "cut": whole[:len(whole)-1], "longer": append(slices.Clone(whole), 0), "header only": whole[:headerSize],
		"other version": slices.Clone(whole), "count": slices.Clone(whole), "magic": slices.Clone(whole)}
	damage["other version"][len(magic)]++
	damage["count"][len(magic)+40]++
	damage["magic"][0]++
	for name, text := range damage {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if ok, err := New(s.dir).Open(accept); ok || err != nil {
			t.Errorf("%s: taken %v, %v", name, ok, err)
		}
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	again := New(s.dir)
	if ok, err := again.Open(func(c Covers) (bool, error) { return c == Covers{Batch: 0, Ledger: 5, Fills: 1000}, nil }); !ok || err != nil {
		t.Errorf("the whole file: taken %v, %v", ok, err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWhatAKilledBuildLeftIsSwept(t *testing.T) {
	s := made(t, 10)
	for _, name := range []string{"wallets.part-0", "wallets.part-0.tokens", "wallets.part-7"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := New(s.dir)
	if ok, err := again.Open(func(Covers) (bool, error) { return true, nil }); !ok || err != nil {
		t.Fatalf("taken %v, %v", ok, err)
	}
	defer func() { _ = again.Close() }()
	files, err := os.ReadDir(s.dir)
	if err != nil || len(files) != 1 {
		t.Errorf("left: %v %v", files, err)
	}
}

func TestABuildThatWasOvertakenIsDropped(t *testing.T) {
	s := made(t, 10)
	defer func() { _ = s.Close() }()
	p := s.Plan()
	err := s.Build(context.Background(), p, func(func(int32, *serving.Fill) error) error { return s.Restart(9, false) })
	if err == nil || s.Stats().Ready {
		t.Errorf("%v, %+v", err, s.Stats())
	}
}

func TestACancelledBuildChangesNothing(t *testing.T) {
	s := made(t, 10)
	defer func() { _ = s.Close() }()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Build(ctx, s.Plan(), func(func(int32, *serving.Fill) error) error { return nil }); err == nil {
		t.Error("no error")
	}
	if st := s.Stats(); !st.Ready || st.Run != 10 {
		t.Errorf("%+v", st)
	}
	files, err := os.ReadDir(s.dir)
	if err != nil || len(files) != 1 {
		t.Errorf("left: %v %v", files, err)
	}
}

// Readers go on in the old file while a new one takes its place.
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
				if fills, ok = s.Fills(fills[:0], 3, through, nil, 1000); !ok || len(fills) < 100*int(through+1) {
					t.Errorf("batch %d: %d fills, at hand %v", through, len(fills), ok)
					return
				}
				for i := 1; i < len(fills); i++ {
					if fills[i-1].Compare(&fills[i]) <= 0 {
						t.Error("out of order")
						return
					}
				}
				sums, _ = s.Tokens(sums[:0], 3, through)
				if len(sums) != 3 {
					t.Errorf("%d tokens", len(sums))
					return
				}
			}
		})
	}
	for batch := range int64(8) {
		grow(t, s, batch+1, 700)
	}
	close(stop)
	readers.Wait()
	if got := fmt.Sprint(s.Stats().Run, s.state.Load().run.users.Load()); got != "6300 1" {
		t.Errorf("fills and users of the last file: %s", got)
	}
}
