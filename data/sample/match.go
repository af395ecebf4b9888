package sample

import "pmx/data"

const (
	lot     = 10_000 // step of sizes in millionths of a token, with which sizes times prices are whole numbers
	maxLegs = 32
)

// leg is one maker's share of a match. Either the maker trades the taker's token with the taker, or
// both buy or both sell, the maker the complementary token: then the exchange mints or merges full
// sets.
type leg struct {
	wallet     int32
	complement bool
	shares     int64
	price      int64 // of the taker's token, thousandths
}

// match is one taker order and the maker orders that fill it.
type match struct {
	market  *market
	ts      int64 // unix seconds
	number  int64
	taker   int32
	buy     bool
	outcome int8 // the taker's token
	price   int64
	shares  int64
	usd     int64 // what the taker pays or receives
	legs    []leg
}

// usd is the amount for the shares in millionths of a dollar. It is exact because shares are
// multiples of a lot.
func usd(shares, price int64) int64 { return shares / 1000 * price }

// exchange is the state from which matches are drawn.
type exchange struct {
	cfg     Config
	r       rng
	normal  *normalTable
	wallets *wallets
	m       match
	sum     Manifest
}

func newExchange(cfg Config) *exchange {
	return &exchange{
		cfg: cfg, r: rng{state: word(cfg.Seed, streamTrades, 0, 0)}, normal: newNormalTable(),
		wallets: newWallets(cfg.Seed, walletCount(cfg.Fills), cfg.hours()),
		sum:     Manifest{Generator: Generator, Version: Version, Seed: cfg.Seed, Start: cfg.start(), End: cfg.End},
	}
}

// trade draws one match of at most rows rows, including the taker's; rows is at least 2. The match
// is valid until the next call.
func (x *exchange) trade(mk *market, hour int, ts int64, rows int64) *match {
	m := &x.m
	m.market, m.ts, m.legs = mk, ts, m.legs[:0]
	life := float64(mk.event.closeHour-mk.event.openHour) * 3600
	age := float64(ts - x.sum.Start.Unix() - int64(mk.event.openHour)*3600)
	mk.event.path.move(&x.r, age/life)
	x.order(m, hour, mk.fair(x.normal))
	x.makers(m, hour, x.legCount(rows, m.shares))
	x.settle(m)
	return m
}

// legCount draws the number of makers, two on average. The number of rows that are left after the
// match is 0, or enough for another match.
func (x *exchange) legCount(rows, shares int64) int {
	k := int64(1)
	for k < maxLegs-1 && x.r.next()&1 == 0 {
		k++
	}
	if shares > 20_000*int64(data.One) {
		k = min(k+int64(x.r.below(6)), maxLegs-1)
	}
	k = max(1, min(k, rows-1, shares/lot))
	if rows == k+2 {
		if shares/lot > k {
			return int(k + 1)
		}
		x.m.shares = (k + 1) * lot
		return int(k + 1)
	}
	return int(k)
}

// order draws the taker's side: mostly a buy, or a sale of tokens that the wallet bought before. A
// few sell tokens that they never bought, like wallets that split a set.
func (x *exchange) order(m *match, hour int, fair int64) {
	r, mk := &x.r, m.market
	if r.chance(270) {
		if h := mk.holding(r, -1, lot, -1); h != nil {
			m.taker, m.outcome, m.buy = h.wallet, h.outcome, false
			m.price = x.quote(mk, fair, m.outcome, false)
			m.shares = h.shares
			if r.chance(300) && h.shares >= 4*lot {
				m.shares = h.shares / 2 / lot * lot
			}
			h.shares -= m.shares
			return
		}
	}
	m.taker = x.wallets.trader(r, hour, mk.event.category, -1)
	traits := x.wallets.traits(m.taker)
	m.buy = !r.chance(30)
	m.outcome = first
	if int64(r.below(1400)) >= 200+fair { // favourites are bought more often
		m.outcome = second
	}
	if mk.result != split && r.chance(insight(traits)) {
		m.outcome = mk.result
		m.buy = true
	}
	m.price = x.quote(mk, fair, m.outcome, m.buy)
	m.shares = x.orderSize(traits, m.price)
	if m.buy {
		mk.remember(r, m.taker, m.outcome, m.shares)
	}
}

// quote is the price at which a taker trades an outcome: the fair price plus or minus half the
// spread, which is about a cent.
func (x *exchange) quote(mk *market, fair int64, outcome int8, buy bool) int64 {
	if outcome == second {
		fair = 1000 - fair
	}
	spread := (mk.tick*int64(x.r.below(2)) + int64(x.r.below(15))) / mk.tick * mk.tick
	if !buy {
		spread = -spread
	}
	return onTick(fair+spread, mk.tick)
}

// orderSize draws the shares of a taker order. Its dollars are drawn in powers of two with a heavy
// tail: one order in 400 is of thousands of dollars. Orders for unlikely outcomes are smaller.
func (x *exchange) orderSize(traits uint64, price int64) int64 {
	r := &x.r
	octave := r.below(4) + r.below(4) + tier(traits)
	switch v := r.below(400); {
	case v == 0:
		octave = 13 + r.below(4)
	case v < 12:
		octave += 3 + r.below(4)
	}
	if price < 50 {
		octave = min(octave, 9)
	}
	dollars := (uint64(1) << octave) * (uint64(data.One) + r.below64(uint64(data.One)))
	return max(int64(dollars)/max(price, 400)*1000/lot*lot, 5*int64(data.One))
}

// makers draws k legs that add up to the order. One match in 125 is against equal orders of one
// maker, so its rows are equal in every field.
func (x *exchange) makers(m *match, hour, k int) {
	if k > 1 && x.r.chance(8) && m.shares >= int64(k)*lot {
		l := leg{wallet: x.wallets.maker(&x.r, m.taker), price: m.price, shares: m.shares / int64(k) / lot * lot}
		for range k {
			m.legs = append(m.legs, l)
		}
		m.shares = l.shares * int64(k)
		return
	}
	left := m.shares
	for i := range k {
		shares := left
		if others := int64(k-1-i) * lot; others > 0 {
			shares = left * int64(200+x.r.below(500)) / 1000 / lot * lot
			shares = max(lot, min(shares, left-others))
		}
		left -= shares
		x.leg(m, hour, shares, m.slipped(i))
	}
}

// slipped is the price of the i-th leg: prices get worse with the depth of the order book.
func (m *match) slipped(i int) int64 {
	depth := int64(i/2) * m.market.tick
	if !m.buy {
		depth = -depth
	}
	return onTick(m.price+depth, m.market.tick)
}

// leg finds the maker of one leg. Market makers sell either token without having bought it, because
// they split sets; others sell what they hold, or buy.
func (x *exchange) leg(m *match, hour int, shares, price int64) {
	r, mk := &x.r, m.market
	l := leg{shares: shares, price: price}
	held := m.outcome // of the token a holder would give up
	if !m.buy {
		held = 1 - m.outcome
	}
	if r.chance(370) {
		l.wallet, l.complement = x.wallets.maker(r, m.taker), r.chance(450)
		m.legs = append(m.legs, l)
		return
	}
	if r.chance(550) {
		if h := mk.holding(r, held, shares, m.taker); h != nil {
			h.shares -= shares
			l.wallet, l.complement = h.wallet, !m.buy
			m.legs = append(m.legs, l)
			return
		}
	}
	l.wallet = x.wallets.trader(r, hour, mk.event.category, m.taker)
	l.complement = m.buy
	mk.remember(r, l.wallet, 1-held, shares)
	m.legs = append(m.legs, l)
}

// settle adds the match to the sums of the market and of the manifest.
func (x *exchange) settle(m *match) {
	mk, s := m.market, &x.sum
	m.usd, m.number = 0, s.Matches
	for _, l := range m.legs {
		paid := usd(l.shares, l.price)
		m.usd += paid
		x.wallets.note(l.wallet)
		if !l.complement {
			s.MakerUSD += data.Micro(paid)
			continue
		}
		s.MakerUSD += data.Micro(l.shares - paid)
		if m.buy {
			s.Minted += data.Micro(l.shares)
		} else {
			s.Merged += data.Micro(l.shares)
		}
	}
	x.wallets.note(m.taker)
	mk.last = m.legs[len(m.legs)-1].price
	if m.outcome == second {
		mk.last = 1000 - mk.last
	}
	mk.lastTrade = m.ts
	mk.fills += int64(len(m.legs) + 1)
	mk.volume += data.Micro(m.usd)
	s.Matches++
	s.Fills += int64(len(m.legs) + 1)
	s.TakerUSD += data.Micro(m.usd)
	if m.usd >= 10_000*int64(data.One) {
		s.Whales++
	}
}

// holding returns a remembered buy of at least shares of an outcome (any outcome if negative) by a
// wallet other than not, or nil.
func (m *market) holding(r *rng, outcome int8, shares int64, not int32) *holder {
	if m.holders == nil {
		return nil
	}
	start := r.below(holderSlots)
	for i := range holderSlots {
		h := &m.holders[(start+i)%holderSlots]
		if h.shares >= shares && h.wallet != not && (outcome < 0 || h.outcome == outcome) {
			return h
		}
	}
	return nil
}

func (m *market) remember(r *rng, wallet int32, outcome int8, shares int64) {
	if m.holders == nil {
		m.holders = new([holderSlots]holder)
	}
	m.holders[r.below(holderSlots)] = holder{wallet: wallet, outcome: outcome, shares: shares}
}
