package rpc

import "sync"

// Sizer determines how many blocks to request from a provider at once. It may be used by several
// goroutines.
type Sizer struct {
	mu     sync.Mutex
	blocks int64
	most   int64 // known limit in blocks; 0: none
	age    int   // successes since most was set
	good   int   // successes in a row
	bytes  int64 // the largest answer among them
	logs   int64
	limit  int64 // maximum number of logs of a response
}

// Parameters of a Sizer. A provider's limit is exceeded again after so many successes, because
// plans and estimates change.
const (
	firstBlocks = 32
	largeBytes  = 8 << 20
	largeLogs   = 10_000
	fullShare   = 0.6 // share of the limits for a response, so that a busier hour still fits
	growAfter   = 8
	growBy      = 1.25
	triedAgain  = 512
)

// NewSizer returns a Sizer that begins with so many blocks; 0: 32.
func NewSizer(blocks int64) *Sizer {
	if blocks <= 0 {
		blocks = firstBlocks
	}
	return &Sizer{blocks: blocks, limit: largeLogs}
}

// Blocks returns the number of blocks to request now, at least one.
func (s *Sizer) Blocks() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blocks
}

// Good records a range that was answered.
func (s *Sizer) Good(r *Range) { s.note(r.To-r.From+1, r.Bytes(), r.Count()) }

func (s *Sizer) note(blocks, bytes, logs int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.age++; s.age >= triedAgain {
		s.most, s.age = 0, 0
	}
	if full := max(float64(bytes)/largeBytes, float64(logs)/float64(s.limit)); full > 1 {
		s.set(min(s.blocks, int64(float64(blocks)*fullShare/full)))
		return
	}
	if blocks < s.blocks {
		return // a shorter range does not show how large a full one would be
	}
	s.bytes, s.logs = max(s.bytes, bytes), max(s.logs, logs)
	if s.good++; s.good < growAfter {
		return
	}
	full := max(float64(s.bytes)/largeBytes, float64(s.logs)/float64(s.limit))
	next := max(int64(float64(s.blocks)*growBy), s.blocks+1)
	if full > 0 {
		next = min(next, int64(float64(s.blocks)*fullShare/full))
	}
	if s.most > 0 {
		next = min(next, s.most)
	}
	s.set(max(next, s.blocks))
}

// TooWide records that a range of so many blocks was too wide.
func (s *Sizer) TooWide(blocks int64, e *TooWide) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Logs > 0 {
		s.limit = min(s.limit, e.Logs)
	}
	next := blocks / 2
	s.most = max(1, int64(float64(blocks)*fullShare))
	if e.To >= e.From && e.To > 0 {
		next = e.To - e.From + 1
		s.most = max(1, next)
	}
	s.age = 0
	s.set(min(s.blocks, next))
}

func (s *Sizer) set(blocks int64) {
	s.blocks, s.good, s.bytes, s.logs = max(1, blocks), 0, 0, 0
}
