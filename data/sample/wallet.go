package sample

const (
	marketMakers = 8  // wallets with about 3 % of all fills each
	founders     = 8  // ordinary wallets that have joined at the first hour
	evenHead     = 16 // ordinary wallets that share the highest activity
)

// wallets picks traders. Only whether a wallet was seen is stored; all else is computed from its
// number. So a million of them take 125 kB.
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

// arrived reports whether an ordinary wallet has joined by an hour. Three of ten have joined when
// the venue begins; the others join evenly over time.
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

// insight is in how many of 1000 orders a wallet deliberately picks the outcome that will pay: 0
// for most wallets, some for one in 32, more for one in 256.
func insight(traits uint64) int {
	switch v := traits >> 8 & 255; {
	case v == 0:
		return 500
	case v < 8:
		return 200
	}
	return 0
}

// tier is the wallet's usual order size, as a power of two.
func tier(traits uint64) int {
	if traits>>16&255 == 0 {
		return 5
	}
	return int(traits >> 24 & 3)
}

// note counts a wallet if it is seen for the first time.
func (ws *wallets) note(w int32) {
	bit := uint64(1) << (w & 63)
	if ws.seen[w>>6]&bit == 0 {
		ws.seen[w>>6] |= bit
		ws.count++
	}
}
