package fillseg

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/rollups/serving"
)

// idFills are fills of wallets and tokens with the same numbers: if the two are confused, there are
// fills, but the wrong ones.
func idFills() []serving.Fill {
	fill := func(n int64, wallet data.WalletID, token data.TokenID) serving.Fill {
		return serving.Fill{TS: (epoch + n) * second, Tx: data.Hash{byte(n)}, LogIndex: int32(n), Wallet: wallet, Token: token,
			Side: data.Buy, Role: data.Taker, Repeat: 1, Shares: data.Micro(n), USD: data.Micro(2 * n)}
	}
	return []serving.Fill{fill(1, 7, 9), fill(2, 9, 7), fill(3, 7, 7), fill(4, 9, 9), fill(5, 9, 7)}
}

func TestBothStoresNameWalletAndToken(t *testing.T) {
	dir := t.TempDir()
	byWallet, byToken := NewWalletStore(filepath.Join(dir, "wallets.seg"), scrambled{}), NewTokenStore(filepath.Join(dir, "tokens.seg"), scrambled{}, 3)
	f := idFills()
	check := func(when string) {
		t.Helper()
		for wallet, want := range map[data.WalletID][]serving.Fill{7: {f[2], f[0]}, 9: {f[4], f[3], f[1]}, 8: nil} {
			if got, ok := byWallet.Fills(nil, wallet, 0, nil, 10); !ok || !cmp.Equal(want, got) {
				t.Errorf("%s: wallet %d: %v %s", when, wallet, ok, cmp.Diff(want, got))
			}
		}
		for token, want := range map[data.TokenID][]serving.Fill{7: {f[4], f[2], f[1]}, 9: {f[3], f[0]}, 8: nil} {
			if got, ok := byToken.Newest(nil, token, 0, 3); !ok || !cmp.Equal(want, got) {
				t.Errorf("%s: token %d: %v %s", when, token, ok, cmp.Diff(want, got))
			}
		}
		sums, ok := byWallet.Tokens(nil, 9, 0)
		if !ok || len(sums) != 2 || sums[0].Token+sums[1].Token != 7+9 {
			t.Errorf("%s: sums of wallet 9: %v %+v", when, ok, sums)
		}
	}
	for _, s := range []*Store{byWallet.Store, byToken.Store} {
		defer func() { _ = s.Close() }()
		s.Sync = func(*os.File) error { return nil }
		if err := s.Restart(-1, true); err != nil {
			t.Fatal(err)
		}
		s.Add(Batch{Number: 0, Fills: idFills()})
	}
	check("in memory")
	for _, s := range []*Store{byWallet.Store, byToken.Store} {
		buildAll(t, s, f)
	}
	check("in a file")
	// Wallet 7 lost a fill of token 9: both have to be read again, the others do not.
	for _, s := range []*Store{byWallet.Store, byToken.Store} {
		s.Add(Batch{Number: 1, Replaced: f[:1]})
	}
	if byWallet.Has(7, 1) || !byWallet.Has(9, 1) || !byToken.Has(7, 1) || byToken.Has(9, 1) {
		t.Error("a key other than those of the replaced fill is left to the database")
	}
	if p, q := byWallet.Plan().Reread, byToken.Plan().Reread; !cmp.Equal(p, Keys{Wallets: []data.WalletID{7}}) || !cmp.Equal(q, Keys{Tokens: []data.TokenID{9}}) {
		t.Errorf("read again: %+v and %+v", p, q)
	}
}

func buildAll(t *testing.T, s *Store, fills []serving.Fill) {
	t.Helper()
	p := s.Plan()
	p.ImportLogHash, p.Facts = 5, int64(len(fills))
	err := s.Build(context.Background(), p, func(add func(int64, *serving.Fill) error) error {
		for i := range fills {
			if err := add(0, &fills[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Existing files stay readable: if these bytes change, there must be another version, unless only hashes have other places,
// which rows name.
func TestTheBytesOfAFileStayTheSame(t *testing.T) {
	dir := t.TempDir()
	for want, s := range map[string]*Store{
		"0dc326ec736cbf0e": NewWalletStore(filepath.Join(dir, "wallets.seg"), scrambled{}).Store,
		"e98617121317a2cf": NewTokenStore(filepath.Join(dir, "tokens.seg"), scrambled{}, 3).Store,
	} {
		s.heavyFrom, s.Sync = 3, func(*os.File) error { return nil }
		if err := s.Restart(0, false); err != nil {
			t.Fatal(err)
		}
		fills := idFills()
		fills[3].TS++ // needs a wide part
		buildAll(t, s, fills)
		text, err := os.ReadFile(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(text))[:16]; got != want {
			t.Errorf("%s: %s, want %s", filepath.Base(s.Path), got, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
