package sample

const (
	marketMakers = 8  // wallets with about 3 % of all fills each
	founders     = 8  // ordinary wallets that are there from the first hour
	evenHead     = 16 // ordinary wallets of the largest, equal activity
)

// wallets picks traders. All of a wallet but whether it was seen is computed
// from its number, so a million of them take 125 kB.
type wallets struct {
	seed  uint64
	n     int
	hours int
	seen  []uint64
	count int64
}

func newWallets(seed uint64, n, hours int) *wallets {
	return &wallets{seed: seed, n: n, hours: hours, seen: make([]uint64, (n+63)/64)}
}

// arrived reports whether an ordinary wallet has joined by an hour: three of ten are there when the
// venue's files begin, the others join evenly.
func (ws *wallets) arrived(w int32, hour int) bool {
	if w < marketMakers+founders {
		return true
	}
	v := word(ws.seed, streamArrival, uint64(w), 0)
	if v&0x3ff < 307 {
		return true
	}
	return int((v>>32)*uint64(ws.hours)>>32) <= hour
}

func (ws *wallets) traits(w int32) uint64 { return word(ws.seed, streamTraits, uint64(w), 0) }

// maker picks a market maker other than not.
func (ws *wallets) maker(r *rng, not int32) int32 {
	for {
		if w := int32(r.below(marketMakers)); w != not {
			return w
		}
	}
}

// trader picks an ordinary wallet other than not that has arrived. Half of the
// wallets have a home category and mostly stay in it.
func (ws *wallets) trader(r *rng, hour int, c category, not int32) int32 {
	strangers := 0
	for {
		w := int32(marketMakers + r.zipf(ws.n-marketMakers, evenHead))
		if w == not || !ws.arrived(w, hour) {
			continue
		}
		if home := category(ws.traits(w) & 15); home < categories && home != c && strangers < 2 {
			strangers++
			continue
		}
		return w
	}
}

// insight is how often in 1000 orders a wallet picks the outcome that will pay:
// most wallets guess, one in 32 knows a little, one in 256 more.
func insight(traits uint64) int {
	switch v := traits >> 8 & 255; {
	case v == 0:
		return 500
	case v < 8:
		return 200
	}
	return 0
}

// tier is the wallet's usual order size, in doublings.
func tier(traits uint64) int {
	if traits>>16&255 == 0 {
		return 5
	}
	return int(traits >> 24 & 3)
}

// note counts a wallet when it is seen for the first time.
func (ws *wallets) note(w int32) {
	bit := uint64(1) << (w & 63)
	if ws.seen[w>>6]&bit == 0 {
		ws.seen[w>>6] |= bit
		ws.count++
	}
}
