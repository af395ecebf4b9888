package fillseg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"testing"

	godiff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// scrambled is an order of names that differs from that of the numbers.
type scrambled struct{}

func (scrambled) CompareTokens(a, b data.TokenID) int   { return scrambledOrder(a, b) }
func (scrambled) CompareWallets(a, b data.WalletID) int { return scrambledOrder(a, b) }

func scrambledOrder[T ~int32](a, b T) int {
	return cmp.Compare(bits.Reverse32(uint32(a)), bits.Reverse32(uint32(b)))
}

// fact is a fill in the database of a test.
type fact struct {
	batch int64
	serving.Fill
}

// world is a database of facts with its stores.
type world struct {
	t     *rapid.T
	dir   string
	store WalletStore
	few   TokenStore // the newest three of each token
	facts []fact
	batch int64
	most  int // files of a store
}

const wallets, tokenIDs = 5, 91

func (w *world) fill() serving.Fill {
	amount := func(name string) data.Micro {
		return data.Micro(rapid.SampledFrom([]int64{0, 1, 2, 1_500_000, maxUSD, maxUSD + 1, 1e15}).Draw(w.t, name))
	}
	token := data.TokenID(rapid.IntRange(0, tokenIDs-1).Draw(w.t, "token"))
	if rapid.Bool().Draw(w.t, "a token of many fills") {
		token %= 4
	}
	f := serving.Fill{
		Wallet:   data.WalletID(rapid.IntRange(0, wallets-1).Draw(w.t, "wallet")),
		TS:       1_700_000_000_000_000 + int64(rapid.IntRange(0, 5).Draw(w.t, "ts"))*40_000_000_000 + int64(rapid.IntRange(0, 1).Draw(w.t, "µs")),
		Token:    token,
		Side:     data.Side(rapid.IntRange(0, 1).Draw(w.t, "side")),
		Role:     data.Role(rapid.IntRange(0, 2).Draw(w.t, "role")),
		LogIndex: int32(rapid.SampledFrom([]int{-1, 0, 7, maxLogIndex, maxLogIndex + 1}).Draw(w.t, "log")),
		Repeat:   int16(rapid.SampledFrom([]int{1, 1, 2, 300}).Draw(w.t, "repeat")),
		Shares:   amount("shares"), USD: amount("usd"),
		Fee: data.Micro(rapid.SampledFrom([]int64{0, 3, -3, 1 << 22, -1 << 22, maxFee, -maxFee, maxFee + 1, -maxFee - 1}).Draw(w.t, "fee")),
	}
	f.Tx[0], f.Tx[31] = byte(rapid.IntRange(0, 1).Draw(w.t, "tx")), byte(rapid.IntRange(0, 2).Draw(w.t, "tx end"))
	return f
}

// add imports fills; some replace earlier ones.
func (w *world) add() {
	w.batch++
	b := Batch{Number: w.batch}
	for range rapid.IntRange(0, 40).Draw(w.t, "fills") {
		f := w.fill()
		if slices.ContainsFunc(w.facts, func(o fact) bool { return o.Wallet == f.Wallet && o.Compare(&f, scrambled{}) == 0 }) {
			continue
		}
		w.facts = append(w.facts, fact{w.batch, f})
		b.Fills = append(b.Fills, f)
	}
	if n := len(w.facts); n > 0 && rapid.IntRange(0, 3).Draw(w.t, "replace") == 0 {
		i := rapid.IntRange(0, n-1).Draw(w.t, "which")
		if o := w.facts[i]; o.batch < w.batch {
			w.facts = slices.Delete(w.facts, i, i+1)
			b.Replaced = append(b.Replaced, o.Fill)
			o.batch, o.Role, o.Fee = w.batch, data.Taker, 5
			w.facts = append(w.facts, o)
			b.Fills = append(b.Fills, o.Fill)
		}
	}
	w.store.Add(b)
	w.few.Add(b)
}

// of returns a wallet's facts up to a batch, oldest first.
func (w *world) of(wallet data.WalletID, batch int64) []serving.Fill {
	var out []serving.Fill
	for _, f := range w.facts {
		if f.Wallet == wallet && f.batch <= batch {
			out = append(out, f.Fill)
		}
	}
	slices.SortFunc(out, func(x, y serving.Fill) int { return x.Compare(&y, scrambled{}) })
	return out
}

func (w *world) build() {
	w.buildOne(w.store.Store)
	w.buildOne(w.few.Store)
	if s := w.store.Stats(); s.Stored != int64(len(w.facts)) || s.Files > w.most {
		w.t.Fatalf("after a build of %d fills: %+v", len(w.facts), s)
	}
	kept := 0
	for token := range data.TokenID(tokenIDs) {
		kept += len(w.newest(token, w.batch))
	}
	if s := w.few.Stats(); s.Files > w.most || s.Stored < int64(kept) || s.Files == 1 && s.Stored != int64(kept) || s.Files == 1 && int(w.few.Contents().Files.Last().Counts[txs]) > kept {
		w.t.Fatalf("after a build of the newest, %d fills: %+v", kept, s)
	}
}

func (w *world) buildOne(store *Store) {
	p := store.Plan()
	p.ImportLogHash, p.Facts = 77, int64(len(w.facts))
	err := store.Build(context.Background(), p, func(add func(int64, *serving.Fill) error) error {
		for _, f := range w.facts {
			if err := add(f.batch, &f.Fill); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if s := store.Stats(); !s.Ready || s.Dirty > 0 || s.Recent > 0 || store.Facts() != int64(len(w.facts)) {
		w.t.Fatalf("after a build of %d fills: %+v", len(w.facts), s)
	}
}

// mostFew is the number of fills of a token that the other store keeps.
const mostFew = 3

// newest returns a token's newest facts up to a batch.
func (w *world) newest(token data.TokenID, batch int64) []serving.Fill {
	var list []serving.Fill
	for _, f := range w.facts {
		if f.Token == token && f.batch <= batch {
			list = append(list, f.Fill)
		}
	}
	slices.SortFunc(list, func(x, y serving.Fill) int { return y.CompareInBlock(&x, scrambled{}) })
	return list[:min(len(list), mostFew)]
}

// killed is a build whose process ends before the merged files are removed: they are there again,
// next to the new one.
func (w *world) killed() {
	before := w.files()
	w.build()
	for path, text := range before {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	w.restart()
	if s, few := w.store.Stats(), w.few.Stats(); !s.Ready || !few.Ready || s.Recent > 0 || few.Recent > 0 {
		w.t.Fatalf("what was built is missing: s = %+v, few = %+v", s, few)
	}
}

// lost is a restart with one file missing or incomplete.
func (w *world) lost() {
	paths := slices.Sorted(maps.Keys(w.files()))
	if len(paths) == 0 {
		return
	}
	path := rapid.SampledFrom(paths).Draw(w.t, "lost")
	err := os.Remove(path)
	if rapid.Bool().Draw(w.t, "cut") {
		err = errors.Join(err, os.WriteFile(path, make([]byte, segments.PageSize), 0o600))
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.restart()
}

// files returns all files with their bytes.
func (w *world) files() map[string][]byte {
	out := map[string][]byte{}
	list, err := os.ReadDir(w.dir)
	for _, e := range list {
		path := filepath.Join(w.dir, e.Name())
		var err2 error
		out[path], err2 = os.ReadFile(path)
		err = errors.Join(err, err2)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// restart does what a new process does: it uses the files if they still fit.
func (w *world) restart() {
	if err := errors.Join(w.store.Close(), w.few.Close()); err != nil {
		w.t.Fatal(err)
	}
	w.open()
	for _, store := range []*Store{w.store.Store, w.few.Store} {
		w.reopen(store)
	}
}

func (w *world) reopen(store *Store) {
	ok, err := store.Open(func(c segments.Coverage) (bool, error) {
		held := int64(0)
		for _, f := range w.facts {
			if f.batch <= c.Batch {
				held++
			}
		}
		return held == c.Facts && c.ImportLogHash == 77, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if !ok {
		if err := store.Restart(w.batch, len(w.facts) == 0); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	for n := store.Through() + 1; n <= w.batch; n++ {
		b := Batch{Number: n}
		for _, f := range w.facts {
			if f.batch == n {
				b.Fills = append(b.Fills, f.Fill)
			}
		}
		store.Add(b)
	}
}

func (w *world) open() {
	w.store = NewWalletStore(filepath.Join(w.dir, "wallets.seg"), scrambled{})
	w.few = NewTokenStore(filepath.Join(w.dir, "few.seg"), scrambled{}, mostFew)
	for _, s := range []*Store{w.store.Store, w.few.Store} {
		s.heavyFrom, s.laterHeavy, s.bufferFills, s.mostFiles, s.rangeSize = 8, 4, 16, w.most, 300
		s.Sync = func(*os.File) error { return nil }
	}
}

func (w *world) check() {
	for _, store := range []*Store{w.store.Store, w.few.Store} {
		if store.Stats().Ready && store.Facts() != int64(len(w.facts)) {
			w.t.Fatalf("%d facts, want %d", store.Facts(), len(w.facts))
		}
	}
	for wallet := range data.WalletID(wallets + 1) {
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
		w.t.Fatal("a batch that was not added is in memory")
	}
}

// checkFew compares the other store's results for this batch and those before.
func (w *world) checkFew() {
	for token := range data.TokenID(tokenIDs + 1) {
		for batch := w.batch - 3; batch <= w.batch; batch++ {
			want := w.newest(token, batch)
			got, ok := w.few.Newest(nil, token, batch, mostFew)
			if ok != w.few.Has(token, batch) {
				w.t.Fatal("Has and Newest disagree")
			}
			if ok {
				same(w.t, fmt.Sprint("newest of batch ", batch), want, got)
			}
			if got, ok = w.few.Newest(nil, token, batch, 1); ok {
				same(w.t, "the newest", want[:min(len(want), 1)], got)
			}
			w.checkSums(token, batch, ok)
		}
		if _, ok := w.few.Newest(nil, token, w.batch, mostFew+1); ok {
			w.t.Fatal("more fills than are kept are in memory")
		}
	}
}

// checkSums compares the sums of all fills of a token, of which the store keeps a few.
func (w *world) checkSums(token data.TokenID, batch int64, known bool) {
	var want, got tokenSums
	for i := range w.facts {
		if f := &w.facts[i]; f.Token == token && f.batch <= batch {
			want.add(&f.Fill)
		}
	}
	var ok, okHours bool
	got.wallets, ok = w.few.Wallets(nil, token, batch)
	got.hours, okHours = w.few.Hours(nil, token, batch)
	if ok != known || okHours != known {
		w.t.Fatalf("token %d of batch %d: newest fills known %v, wallets %v, hours %v", token, batch, known, ok, okHours)
	}
	if !known {
		return
	}
	want.settle()
	same(w.t, fmt.Sprint("wallets of batch ", batch), want.wallets, got.wallets)
	same(w.t, fmt.Sprint("hours of batch ", batch), want.hours, got.hours)
}

func same[T comparable](t *rapid.T, what string, want, got []T) {
	t.Helper()
	if !slices.Equal(want, got) {
		if diff := godiff.Diff(want, got); diff != "" {
			t.Fatalf("%s (-facts +store):\n%s", what, diff)
		}
	}
}

// pages reads a wallet's fills page by page.
func (w *world) pages(wallet data.WalletID, newest []serving.Fill) {
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

func (w *world) sums(wallet data.WalletID, fills []serving.Fill) {
	byToken := map[data.TokenID]*serving.TokenSum{}
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
		dir, err := os.MkdirTemp("", "pmx-fillseg-")
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		w := &world{t: rt, dir: dir, batch: -1, most: rapid.SampledFrom([]int{1, 2, 3, 5, maxLevels}).Draw(rt, "files")}
		w.open()
		defer func() { _ = errors.Join(w.store.Close(), w.few.Close()) }()
		if err := errors.Join(w.store.Restart(-1, true), w.few.Restart(-1, true)); err != nil {
			rt.Fatal(err)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"add":     func(*rapid.T) { w.add() },
			"build":   func(*rapid.T) { w.build() },
			"restart": func(*rapid.T) { w.restart() },
			"killed":  func(*rapid.T) { w.killed() },
			"lost":    func(*rapid.T) { w.lost() },
			"":        func(*rapid.T) { w.check(); w.checkFew() },
		})
	})
}

// A fill whose amounts need every bit is read as it was written.
func TestRowsKeepEveryBit(t *testing.T) {
	const last = (epoch + maxTime) * second
	most := serving.Fill{TS: last, Wallet: 7, Token: maxID, Side: data.Sell, Role: data.Taker, LogIndex: maxLogIndex, Repeat: 1,
		Shares: maxUSD, USD: maxUSD, Fee: maxFee}
	first := serving.Fill{TS: epoch * second, Wallet: 7, LogIndex: data.NoIndex, Repeat: 1}
	fills := []serving.Fill{first, most}
	for _, change := range []func(f *serving.Fill){
		func(f *serving.Fill) { f.TS++ }, func(f *serving.Fill) { f.Shares = maxUSD + 1 }, func(f *serving.Fill) { f.USD = 1 << 60 },
		func(f *serving.Fill) { f.Fee = maxFee + 1 }, func(f *serving.Fill) { f.Fee = -maxFee - 1 }, func(f *serving.Fill) { f.LogIndex = maxLogIndex + 1 }, func(f *serving.Fill) { f.Repeat = 2 },
		func(f *serving.Fill) { f.Shares = 1 << 34 }, func(f *serving.Fill) { f.Fee = 1 << 22 },
	} {
		f := first
		change(&f)
		fills = append(fills, f)
	}
	k := kind{}
	for _, f := range fills {
		r, err := k.pack(&f, noTx, 0)
		if err != nil {
			t.Fatal(err)
		}
		wideBytes := appendWide(nil, &f)
		var got serving.Fill
		r.unpackTo(&got, wideBytes)
		if k.setIDs(&got, 7, r.other()); got != f {
			t.Errorf("got  %+v\nwant %+v", got, f)
		}
		if r.wide() == fits(&f) {
			t.Errorf("%+v: wide %v", f, r.wide())
		}
	}
	for _, f := range []serving.Fill{{TS: epoch*second - 1}, {TS: last + second}, {TS: last, Token: -1}, {TS: last, Token: maxID + 1}} {
		if _, err := k.pack(&f, 0, 0); err == nil {
			t.Errorf("%+v was packed", f)
		}
	}
}

// made returns a store with a built file of n fills.
func made(t *testing.T, n int) WalletStore {
	t.Helper()
	s := NewWalletStore(filepath.Join(t.TempDir(), "wallets.seg"), scrambled{})
	if err := s.Restart(-1, true); err != nil {
		t.Fatal(err)
	}
	grow(t, s.Store, 0, n)
	return s
}

// grow adds a batch of n fills and builds.
func grow(t *testing.T, s *Store, batch int64, n int) {
	t.Helper()
	facts := make([]serving.Fill, n)
	for i := range facts {
		facts[i] = serving.Fill{TS: epoch*second + batch*1e9 + int64(i), Tx: data.Hash{byte(i), byte(batch)}, Wallet: data.WalletID(i % 7), Token: data.TokenID(i % 3), Repeat: 1, Shares: 1}
	}
	s.Add(Batch{Number: batch, Fills: facts})
	p := s.Plan()
	p.ImportLogHash = 5
	err := s.Build(context.Background(), p, func(add func(int64, *serving.Fill) error) error {
		for i := range facts {
			if err := add(batch, &facts[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
