package apitest

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"pmx/data"
	"pmx/rollups/serving"
)

// Wallets serves reads of wallets from fills in memory.
type Wallets struct {
	Fills       map[data.WalletID][]serving.Fill // by wallet id, in any order
	Slow        bool                             // negation of WalletInMemory
	Reads       int
	Names       map[string]data.Address                     // wallets that are found by their name
	Known       []data.Address                              // wallets that are found by their address, ascending
	Leaderboard map[int]map[string][]serving.LeaderboardRow // by age and category
	// LeaderboardGate is received from before leaderboards are returned; nil: they are returned at
	// once.
	LeaderboardGate chan struct{}
	// LeaderboardErr, if set, is called before leaderboards are returned, and its error is returned
	// instead.
	LeaderboardErr func() error
	Made           []serving.ProfitDay // by any wallet
}

// byNumber orders wallets and tokens by their numbers.
type byNumber struct{}

func (byNumber) CompareTokens(a, b data.TokenID) int   { return cmp.Compare(a, b) }
func (byNumber) CompareWallets(a, b data.WalletID) int { return cmp.Compare(a, b) }

// sorted returns a wallet's fills, newest first.
func (w *Wallets) sorted(wallet data.WalletID) []serving.Fill {
	w.Reads++
	fills := slices.Clone(w.Fills[wallet])
	slices.SortFunc(fills, func(x, y serving.Fill) int { return y.Compare(&x, byNumber{}) })
	return fills
}

// WalletFills returns the newest fills after after.
func (w *Wallets) WalletFills(_ context.Context, dst []serving.Fill, wallet data.WalletID, _ int64, after *serving.Fill, n int) ([]serving.Fill, error) {
	for _, f := range w.sorted(wallet) {
		if after != nil && f.Compare(after, byNumber{}) >= 0 {
			continue
		}
		if n == 0 {
			break
		}
		n--
		dst = append(dst, f)
	}
	return dst, nil
}

// WalletTokens adds the fills up by token.
func (w *Wallets) WalletTokens(_ context.Context, dst []serving.TokenSum, wallet data.WalletID, _ int64) ([]serving.TokenSum, error) {
	for _, f := range w.sorted(wallet) {
		i := slices.IndexFunc(dst, func(s serving.TokenSum) bool { return s.Token == f.Token })
		if i < 0 {
			i = len(dst)
			dst = append(dst, serving.TokenSum{})
		}
		dst[i].Add(&f)
	}
	return dst, nil
}

// WalletDays adds the fills up by day.
func (w *Wallets) WalletDays(_ context.Context, dst []serving.DaySum, wallet data.WalletID, _ int64) ([]serving.DaySum, error) {
	fills := w.sorted(wallet)
	for i := len(fills) - 1; i >= 0; i-- {
		if n := len(dst) - 1; n < 0 || dst[n].Day != serving.DayOf(fills[i].TS) {
			dst = append(dst, serving.DaySum{})
		}
		dst[len(dst)-1].Add(&fills[i])
	}
	return dst, nil
}

// WalletsBetween searches Known.
func (w *Wallets) WalletsBetween(_ context.Context, lo, hi data.Address, n int) (list []data.Address, err error) {
	for _, a := range w.Known {
		if bytes.Compare(a[:], lo[:]) >= 0 && bytes.Compare(a[:], hi[:]) <= 0 && len(list) < n {
			list = append(list, a)
		}
	}
	return list, nil
}

// WalletsNamed searches Names.
func (w *Wallets) WalletsNamed(_ context.Context, prefix string, n int) (list []data.Address, err error) {
	for _, name := range slices.Sorted(maps.Keys(w.Names)) {
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(prefix)) && len(list) < n {
			list = append(list, w.Names[name])
		}
	}
	return list, nil
}

// WalletInMemory is the negation of Slow.
func (w *Wallets) WalletInMemory(data.WalletID, int64) bool { return !w.Slow }

// Leaderboards returns the rows of Leaderboard.
func (w *Wallets) Leaderboards(ctx context.Context, upTo, _, most int64) (*serving.Leaderboards, error) {
	if w.LeaderboardGate != nil {
		select {
		case <-w.LeaderboardGate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if w.LeaderboardErr != nil {
		if err := w.LeaderboardErr(); err != nil {
			return nil, err
		}
	}
	b := serving.NewLeaderboards(upTo, most)
	for age, parts := range w.Leaderboard {
		for category, rows := range parts {
			for i := range rows {
				if err := b.Add(age, category, &rows[i]); err != nil {
					return nil, err
				}
			}
		}
	}
	return b, nil
}

// ProfitDays returns Made.
func (w *Wallets) ProfitDays(context.Context, []data.WalletID, int32, int64) ([]serving.ProfitDay, error) {
	w.Reads++
	return w.Made, nil
}
