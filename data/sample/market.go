package sample

import (
	"math"
	"math/big"

	"pmx/data"
)

// category is a kind of event; categoryTags has their names.
type category uint8

const (
	sports category = iota
	politics
	crypto
	weather
	economy
	tech
	culture
	world
	categories
)

// stage is where a market is between listing and payout, at the venue's end.
type stage uint8

const (
	trading  stage = iota
	ended          // no longer traded, result proposed, not yet closed
	proposed       // closed, result proposed, not yet final
	disputed       // closed, result disputed
	resolved
)

// Results of a market: the index of the paying outcome, or split for half each.
const (
	first  = 0
	second = 1
	split  = 2
)

// event is one listing: a question with one market, or a group of them.
type event struct {
	id          int
	category    category
	title, slug string
	description string
	source      string // resolution source URL; "" if it is in the description
	tags        []tag
	series      string // slug of the series, "" for one-off events
	seriesTitle string
	negRisk     bool
	positions   bool  // of protocol V2: tokens are positions, whose ids contain their condition
	openHour    int   // first hour of trading, counted from the start of the venue
	closeHour   int   // first hour after trading
	end         int64 // announced end, unix seconds
	gameStart   int64 // unix seconds, 0 where none
	updated     int64 // last change, unix seconds; 0: at the venue's end
	closedAt    int64 // final closing, unix seconds; may be after the venue's end
	stage       stage
	path        path
	markets     []*market
	order       []int // the order in which markets are listed; nil: as they are
	climate     *cityDay
}

// market is one condition with two outcomes, and its running state.
type market struct {
	event     *event
	id        int
	leg       int // index in the event, in the field groupItemThreshold
	question  string
	slug      string
	group     string
	outcomes  [2]string
	tick      int64   // thousandths of a dollar: 10 or 1
	prior     int64   // chance of the first outcome at listing, millionths
	lo, hi    float64 // the first outcome pays if the path's goal is between these bounds
	weight    uint64
	result    int8
	last      int64 // last price of the first outcome, thousandths; 0 before the first trade
	lastTrade int64
	shown     int64 // middle of the quotes, thousandths; 0: the fair price
	fills     int64
	volume    data.Micro // dollars of the takers
	tokens    [2]string
	holders   *[holderSlots]holder
}

// holder remembers a recent buy, so that later sells are mostly of bought tokens.
type holder struct {
	wallet  int32
	outcome int8
	shares  int64
}

const holderSlots = 8

// path is a Brownian bridge from 0 to the goal, from which the event's results follow. Each market
// pays its first outcome if the goal lies between two bounds. Its price at a share t of the event's
// life is the chance that a free Brownian motion, at z now, ends there. So prices are calibrated,
// and those of a NegRisk event add up to one.
type path struct {
	z, t, goal float64
}

const lastShare = 0.996 // share of an event's life after which prices no longer change

// move moves the path on to the share t of the event's life. Products are converted explicitly, so
// that no processor fuses them with a sum.
func (p *path) move(r *rng, t float64) {
	t = min(t, lastShare)
	dt := t - p.t
	if dt <= 0 {
		return
	}
	left := 1 - p.t
	noise := math.Sqrt(float64(dt*(1-t)) / left)
	p.z += float64((p.goal-p.z)*dt)/left + float64(noise*r.normal())
	p.t = t
}

// fair is the current price of the first outcome, in thousandths, rounded to a tick.
func (m *market) fair(table *normalTable) int64 {
	p := &m.event.path
	left := math.Sqrt(1 - p.t)
	chance := table.at((m.hi-p.z)/left) - table.at((m.lo-p.z)/left)
	return onTick((chance+500)/1000, m.tick)
}

// onTick rounds a price in thousandths to a tick between the first and the last.
func onTick(milli, tick int64) int64 {
	milli = (milli + tick/2) / tick * tick
	return min(max(milli, tick), 1000-tick)
}

// tokenIDs returns the two token ids, which are computed at first use.
func (m *market) tokenIDs(seed uint64) *[2]string {
	if m.tokens[0] == "" {
		for i := range m.tokens {
			var b [32]byte
			if m.event.positions {
				b = m.position(seed)
				b[31] = byte(i)
			} else {
				fill(b[:], seed, streamToken, uint64(2*m.id+i))
				b[0] |= 0x10 // 76 to 78 digits, as ids made by hashing
			}
			m.tokens[i] = new(big.Int).SetBytes(b[:]).String()
		}
	}
	return &m.tokens
}

func (m *market) condition(seed uint64) (h data.Hash) {
	if m.event.positions {
		return m.position(seed)
	}
	fill(h[:], seed, streamCondition, uint64(m.id))
	return h
}

// questionID returns the id of the market's question: for a NegRisk event, the event's id with the
// market's index in the last byte; otherwise a random one.
func (m *market) questionID(seed uint64) (h data.Hash) {
	if !m.event.negRisk {
		fill(h[:], seed, streamQuestion, uint64(m.id))
		return h
	}
	h = m.event.negRiskID(seed)
	h[31] = byte(m.leg)
	return h
}

func (e *event) negRiskID(seed uint64) (h data.Hash) {
	fill(h[:], seed, streamNegRisk, uint64(e.id))
	h[31] = 0
	return h
}
