package follow

import (
	"cmp"
	"slices"
	"time"

	"pmx/engine/ledger"
)

// job is a range of blocks to request, with its filters.
type job struct {
	from, to int64
	filters  []int // indexes into the lane's filters
}

func (j job) blocks() int64 { return j.to - j.from + 1 }

// span is a range of blocks that the same filters lack.
type span = job

// held is a range that is not committed because its logs are doubtful.
type held struct {
	job    job
	why    string
	next   time.Time
	tries  int
	digest uint64 // of the last response
	logs   int64
	node   string
	taken  bool // a request is in flight
}

// plan has the missing ranges and those in flight. The caller must serialise access.
type plan struct {
	missing []span // ranges that are not committed, in order
	taken   []job  // in flight, or answered and not yet committed
	held    []*held
}

// spans returns the ranges of blocks up to head that any filter lacks, in order. starts are the
// first blocks of the filters.
func spans(ranges []ledger.Ranges, starts []int64, head int64) (out []span) {
	gaps := make([][]ledger.Gap, len(ranges))
	var edges []int64
	for i, rs := range ranges {
		gaps[i] = rs.Gaps(starts[i], head)
		for _, g := range gaps[i] {
			edges = append(edges, g.From, g.To+1)
		}
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	for n := 1; n < len(edges); n++ {
		s := span{from: edges[n-1], to: edges[n] - 1}
		for i := range gaps {
			if slices.ContainsFunc(gaps[i], func(g ledger.Gap) bool { return g.From <= s.from && s.to <= g.To }) {
				s.filters = append(s.filters, i)
			}
		}
		if len(s.filters) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// blocks returns the number of missing blocks.
func (p *plan) blocks() (n int64) {
	for _, s := range p.missing {
		n += s.blocks()
	}
	return n
}

// heldBlocks returns how many of them are held back.
func (p *plan) heldBlocks() (n int64) {
	for _, h := range p.held {
		n += h.job.blocks()
	}
	return n
}

// open returns how many are missing and not held back.
func (p *plan) open() int64 { return p.blocks() - p.heldBlocks() }

// free returns the parts of the missing blocks that are neither in flight nor held back, in order.
func (p *plan) free() (out []span) {
	busy := slices.Clone(p.taken)
	for _, h := range p.held {
		busy = append(busy, h.job)
	}
	slices.SortFunc(busy, func(a, b job) int { return cmp.Compare(a.from, b.from) })
	for _, s := range p.missing {
		for _, b := range busy {
			if b.to < s.from {
				continue
			}
			if b.from > s.to {
				break
			}
			if b.from > s.from {
				out = append(out, span{s.from, b.from - 1, s.filters})
			}
			s.from = b.to + 1
		}
		if s.from <= s.to {
			out = append(out, s)
		}
	}
	return out
}

// next takes the next range to request, of at most width blocks; false if there is none. Held
// ranges that are due come first, then the newest day, backwards, then all others from the oldest
// on.
func (p *plan) next(now time.Time, head, width int64) (job, bool) {
	for _, h := range p.held {
		if !h.taken && !h.next.After(now) {
			h.taken = true
			p.taken = append(p.taken, h.job)
			return h.job, true
		}
	}
	free := p.free()
	if len(free) == 0 {
		return job{}, false
	}
	s := free[0]
	if last := free[len(free)-1]; last.to > head-dayBlocks {
		from := max(last.from, head-dayBlocks+1)
		s = span{max(from, last.to-width+1), last.to, last.filters}
	}
	s.to = min(s.to, s.from+width-1)
	p.taken = append(p.taken, s)
	return s, true
}

// release releases a range that was taken.
func (p *plan) release(j job) {
	p.taken = slices.DeleteFunc(p.taken, func(t job) bool { return t.from == j.from && t.to == j.to })
	if h := p.holding(j); h != nil {
		h.taken = false
	}
}

// holding returns the entry of a range that is held back; nil if it is not.
func (p *plan) holding(j job) *held {
	for _, h := range p.held {
		if h.job.from == j.from && h.job.to == j.to {
			return h
		}
	}
	return nil
}

// hold holds a taken range back until a time.
func (p *plan) hold(j job, why string, digest uint64, logs int64, node string, now time.Time) *held {
	h := p.holding(j)
	if h == nil {
		h = &held{job: j}
		p.held = append(p.held, h)
	}
	h.why, h.digest, h.logs, h.node = why, digest, logs, node
	h.tries++
	h.next = now.Add(min(mostHeld, firstHeld<<min(h.tries-1, 10)))
	p.release(j)
	return h
}

// How long to wait before a held range is requested again, at first and at most.
const (
	firstHeld = 5 * time.Second
	mostHeld  = 10 * time.Minute
)

// committed removes committed ranges.
func (p *plan) committed(jobs []job) {
	for _, j := range jobs {
		p.release(j)
		p.held = slices.DeleteFunc(p.held, func(h *held) bool { return h.job.from == j.from && h.job.to == j.to })
	}
}
