package fillseg

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

var every = flag.Bool("every", false, "damage a file at every bit and length, not at some")

// answers are all results that can be read from a store, by key. nil: it is left to the database.
type answers struct {
	fills  [][]serving.Fill
	older  [][]serving.Fill // after the third
	tokens [][]serving.TokenSum
	days   [][]serving.DaySum
	// Of tokens.
	wallets [][]serving.WalletSum
	hours   [][]serving.PartialCandle
}

// keys is the number of wallets and of tokens that are requested.
const keys = 40

func ask(s *Store, n int) (a answers) {
	a.fills, a.older = make([][]serving.Fill, keys), make([][]serving.Fill, keys)
	a.tokens, a.days = make([][]serving.TokenSum, keys), make([][]serving.DaySum, keys)
	a.wallets, a.hours = make([][]serving.WalletSum, keys), make([][]serving.PartialCandle, keys)
	for key := range int32(keys) {
		fills, ok := s.fills([]serving.Fill{}, key, 0, nil, n)
		if ok {
			a.fills[key] = fills
		}
		if s.byToken {
			byToken, token := TokenStore{s}, data.TokenID(key)
			if sums, ok := byToken.Wallets([]serving.WalletSum{}, token, 0); ok {
				a.wallets[key] = sums
			}
			if partials, ok := byToken.Hours([]serving.PartialCandle{}, token, 0); ok {
				a.hours[key] = partials
			}
			continue
		}
		if ok && len(fills) <= 3 {
			a.older[key] = []serving.Fill{} // nobody requests them
		} else if ok {
			if older, ok := s.fills([]serving.Fill{}, key, 0, &fills[2], n); ok {
				a.older[key] = older
			}
		}
		byWallet, wallet := WalletStore{s}, data.WalletID(key)
		if tokens, ok := byWallet.Tokens([]serving.TokenSum{}, wallet, 0); ok {
			slices.SortFunc(tokens, func(x, y serving.TokenSum) int { return cmp.Compare(x.Token, y.Token) })
			a.tokens[key] = tokens
		}
		if days, ok := byWallet.Days([]serving.DaySum{}, wallet, 0); ok {
			a.days[key] = days
		}
	}
	return a
}

// wrong reports whether a result differs from the one of the undamaged file, and whether one is
// missing that the undamaged file has.
func wrong(whole, got answers) (bad, missing bool) {
	for key := range keys {
		for _, b := range [...][2]bool{differ(whole.fills[key], got.fills[key]), differ(whole.older[key], got.older[key]),
			differ(whole.tokens[key], got.tokens[key]), differ(whole.days[key], got.days[key]), differ(whole.wallets[key], got.wallets[key]), differ(whole.hours[key], got.hours[key])} {
			bad, missing = bad || b[0], missing || b[1]
		}
	}
	return bad, missing
}

func differ[T comparable](whole, got []T) [2]bool {
	return [2]bool{got != nil && !slices.Equal(whole, got), got == nil && whole != nil}
}

// damageable returns two stores of the same fills, some of which need a wide row, with one wallet
// of kept sums; and the number of fills that each returns for a key.
func damageable(t *testing.T) map[*Store]int {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	facts := make([]serving.Fill, 400)
	for i := range facts {
		f := serving.Fill{TS: (epoch + int64(i)*5000) * second, Token: data.TokenID(rng.Int32N(keys)), Side: data.Side(i & 1), Role: data.Taker, LogIndex: int32(i), Repeat: 1,
			Shares: data.Micro(rng.Int64N(1e9)), USD: data.Micro(rng.Int64N(1e9)), Tx: data.Hash{byte(i / 2), byte(i / 512), 9}}
		if i%7 == 0 {
			f.TS++
		}
		if i%5 == 0 {
			f.Token %= wallets // so that there are tokens with more fills than are kept
		}
		f.Wallet = [...]data.WalletID{0, 0, 0, 1, 2, 4, 1, 0}[i%8]
		facts[i] = f
	}
	dir := t.TempDir()
	whole, few := NewWalletStore(filepath.Join(dir, "wallets.seg"), scrambled{}), NewTokenStore(filepath.Join(dir, "tokens.seg"), scrambled{}, 20)
	for _, s := range []*Store{whole.Store, few.Store} {
		s.heavyFrom = 100
		s.Sync = func(*os.File) error { return nil }
		err := s.Restart(0, false)
		if err == nil {
			p := s.Plan()
			p.ImportLogHash, p.Facts = 5, int64(len(facts))
			err = s.Build(context.Background(), p, func(add func(int64, *serving.Fill) error) error {
				for i := range facts {
					if err := add(0, &facts[i]); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[*Store]int{whole.Store: 1000, few.Store: 20}
}

// damage is what happens to a file, between two of its bytes.
type damage struct {
	name   string
	lo, hi int64
	do     func(*os.File) error
}

func flip(at int64, bit int) damage {
	return damage{fmt.Sprintf("bit %d of byte %d", bit, at), at, at + 1, func(f *os.File) error {
		var b [1]byte
		_, err := f.ReadAt(b[:], at)
		b[0] ^= 1 << bit
		_, err2 := f.WriteAt(b[:], at)
		return errors.Join(err, err2)
	}}
}

func cut(at, size int64) damage {
	return damage{fmt.Sprintf("cut to %d", at), at, max(at, size), func(f *os.File) error { return f.Truncate(at) }}
}

func junk(at int64, text []byte) damage {
	return damage{fmt.Sprintf("%d bytes from %d", len(text), at), at, at + int64(len(text)), func(f *os.File) error {
		_, err := f.WriteAt(text, at)
		return err
	}}
}

// damages returns flipped bits, other lengths, and pages with other contents; with every, all bits
// and lengths.
func damages(size int64) (all []damage) {
	rng := rand.New(rand.NewPCG(3, 1))
	for at := range int64(200) { // the header
		all = append(all, flip(at, rng.IntN(8)))
	}
	for at := range size {
		if !*every {
			break
		}
		all = append(all, cut(at, size))
		for bit := range 8 {
			all = append(all, flip(at, bit))
		}
	}
	for range testfiles.Cases(300, 1_500) {
		all = append(all, flip(rng.Int64N(size), rng.IntN(8)))
	}
	for _, at := range []int64{0, 1, 4095, 4096, 4097, 8192, size - 1, size + 1, size + 4096} {
		all = append(all, cut(at, size))
	}
	for range testfiles.Cases(60, 200) {
		text := make([]byte, 1+rng.IntN(9000))
		for i := range text {
			text[i] = byte(rng.Uint32()) * byte(len(text)%3) // or zeros
		}
		all = append(all, cut(rng.Int64N(size), size), junk(rng.Int64N(size), text))
	}
	return all
}

// However a file is damaged, what is read of it is what was written, or is left to the database: it
// is never wrong, and never a panic. What is left to the database is reported as damage.
func TestADamagedFileIsNeverServedFrom(t *testing.T) {
	for s, n := range damageable(t) {
		whole := ask(s, n)
		if bad, missing := wrong(whole, ask(s, n)); bad || missing || s.Stats().Stored == 0 {
			t.Fatal("the undamaged file returns nothing")
		}
		text, err := os.ReadFile(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		heavyFrom, _ := s.Contents().Files.Last().Span(heavy)
		_, indexTo := s.Contents().Files.Last().Span(index)
		all, found := damages(int64(len(text))), 0
		for i, d := range all {
			bad, missing := damaged(t, s, text, d, false, whole, n)
			if bad {
				t.Errorf("%s: %s: a wrong answer", filepath.Base(s.Path), d.name)
			}
			if missing {
				found++
			}
			if i%4 > 0 {
				continue
			}
			// Once it is open, pages that are verified are not verified again.
			bad, _ = damaged(t, s, text, d, true, whole, n)
			if bad && (d.hi <= int64(heavyFrom) || d.lo >= int64(indexTo)) {
				t.Errorf("%s: %s, after it was opened: a wrong answer", filepath.Base(s.Path), d.name)
			}
		}
		if found < len(all)*9/10 {
			t.Errorf("%d of %d damages were noticed", found, len(all))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// damaged reads a file like that of s, with text in it, that is damaged before it is opened or, if
// late, before anything is read.
func damaged(t *testing.T, s *Store, text []byte, d damage, late bool, whole answers, n int) (bad, missing bool) {
	t.Helper()
	again := newStore(s.Path+"x", s.kind, s.bufferFills)
	var told *segments.Damage
	again.OnDamage = func(d *segments.Damage) { told = d }
	do := func() {
		f, err := os.OpenFile(again.Path, os.O_RDWR, 0)
		if err == nil {
			err = errors.Join(d.do(f), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(again.Path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if !late {
		do()
	}
	opened, err := again.Open(func(segments.Coverage) (bool, error) { return true, nil })
	if err != nil || late && !opened {
		t.Fatalf("%s: opened %v, %v", d.name, opened, err)
	}
	if late {
		do()
	}
	bad, missing = wrong(whole, ask(again, n))
	version := int64(len(s.first.Magic))
	if missing != (told != nil) && (d.lo >= version+8 || d.hi <= version) || again.Stats().Damage == nil != (told == nil) {
		t.Errorf("%s: answers are missing: %v, yet the damage is %v", d.name, missing, told)
	}
	if told != nil && (told.SetAside() != nil || exists(again.Path) || !exists(again.Path+".damaged")) {
		t.Errorf("%s: %v: it was not set aside", d.name, told)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	return bad, missing
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
