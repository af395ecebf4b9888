package keeper

import (
	"errors"

	"pmx/engine/guard"
	"pmx/rollups/serving"
)

// busyTraders is from how many traders of its markets on an event is read and ranked by two goroutines. Less takes two
// milliseconds at most.
const busyTraders = 1 << 13

// busy reports whether markets have so many traders, each market's counted.
func busy(c *serving.Catalog, markets []int32) bool {
	traders := int64(0)
	for _, id := range markets {
		traders += int64(c.Figures(id).Traders)
	}
	return traders >= busyTraders
}

// rankTogether is EventTraders by two goroutines: each reads every other token, and then ranks one half of the wallets.
// ok is false if a token is not in the file.
func (r *Reader) rankTogether(s *serving.Snapshot, tokens []serving.TokenPayout, n int) (traders serving.EventTraders, ok bool, err error) {
	var halves [2][]serving.TokenPayout
	for i := range tokens {
		halves[i%2] = append(halves[i%2], tokens[i])
	}
	var buffers [2]*walletSums
	var there [2]bool
	for k := range buffers {
		buffers[k] = freeSums.Get().(*walletSums)
		defer buffers[k].free()
	}
	if err := both(func(k int) { there[k] = r.sums(buffers[k], halves[k], s.Batch) }); err != nil || !there[0] || !there[1] {
		return traders, false, err
	}
	sums := make([]serving.TokenSums, len(tokens))
	for i := range tokens {
		sums[i] = serving.TokenSums{TokenPayout: tokens[i], Sums: buffers[i%2].cut(i / 2)}
	}
	var wallets [2][]serving.TokenSums
	var ranked [2]serving.EventTraders
	wallets[0], wallets[1] = serving.HalveTraders(sums)
	if err := both(func(k int) { ranked[k] = serving.RankTraders(s, wallets[k], s.Venue, n) }); err != nil {
		return traders, false, err
	}
	ranked[0].Join(s, ranked[1], n)
	return ranked[0], true, nil
}

// both runs f(0) and, in a goroutine of its own, f(1), and waits for both. A panic of f(1) is an error.
func both(f func(k int)) (err error) {
	other := guard.Start(func() error { f(1); return nil })
	defer func() { err = errors.Join(err, <-other) }()
	f(0)
	return nil
}
