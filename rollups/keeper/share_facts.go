package keeper

import (
	"errors"
	"sync/atomic"

	"pmx/engine"
	"pmx/engine/guard"
	"pmx/rollups/serving"
)

const (
	// factsShared is how many facts are passed on at once, and chunksWaiting how many such chunks may wait for a build: as many as are
	// read at once, 30 MB. So it seldom waits for the reading, nor the reading for it.
	factsShared   = 4096
	chunksWaiting = 64
)

// errBuildEnded ends the reading of facts that a build does not want any more.
var errBuildEnded = errors.New("a file was given up before all facts were read")

// factsBuild writes a file of the facts that facts passes to it. If facts fails, so does it.
type factsBuild func(facts func(add adder) error) error

// factShare passes facts on to several builds.
type factShare struct {
	consumers []*factConsumer
	chunk     *factChunk      // being filled
	free      chan *factChunk // to be filled again
	failed    error           // why reading failed; set before the consumers' chunks end
}

// factConsumer is a build, and what it has yet to read.
type factConsumer struct {
	chunks chan *factChunk
	gone   chan struct{} // closed once the build has ended
}

// factChunk holds facts for builds, which do not change them.
type factChunk struct {
	batches []int64
	fills   []serving.Fill
	readers atomic.Int32 // builds that have yet to read it
}

// shareFacts passes the facts of one reading to several builds, which run beside it and beside each other, at low priority. If the
// reading fails, all builds do. If a build fails before everything was read, the reading ends and the others fail; later, they go on.
func shareFacts(read func(add adder) error, builds ...factsBuild) error {
	s := factShare{chunk: &factChunk{}, free: make(chan *factChunk, chunksWaiting)}
	var ends []<-chan error
	for _, build := range builds {
		c := &factConsumer{chunks: make(chan *factChunk, chunksWaiting), gone: make(chan struct{})}
		s.consumers = append(s.consumers, c)
		ends = append(ends, engine.StartLowPriority(func() error {
			defer close(c.gone)
			return build(func(add adder) error { return s.consume(c, add) })
		}))
	}
	s.failed = guard.Do(func() error {
		if err := read(s.add); err != nil {
			return err
		}
		return s.pass()
	})
	for _, c := range s.consumers {
		close(c.chunks)
	}
	var reasons []error
	if s.failed != nil && !errors.Is(s.failed, errBuildEnded) {
		reasons = append(reasons, s.failed)
	}
	for _, end := range ends {
		if err := <-end; err != nil && (s.failed == nil || !errors.Is(err, s.failed)) {
			reasons = append(reasons, err)
		}
	}
	if len(reasons) == 0 {
		return s.failed
	}
	return guard.Repanic(errors.Join(reasons...))
}

// add adds a fact to the chunk that is being filled.
func (s *factShare) add(batch int64, f *serving.Fill) error {
	s.chunk.batches, s.chunk.fills = append(s.chunk.batches, batch), append(s.chunk.fills, *f)
	if len(s.chunk.fills) < factsShared {
		return nil
	}
	return s.pass()
}

// pass passes the chunk on to every build, and begins another one.
func (s *factShare) pass() error {
	s.chunk.readers.Store(int32(len(s.consumers)))
	for _, c := range s.consumers {
		select {
		case c.chunks <- s.chunk:
		case <-c.gone:
			return errBuildEnded
		}
	}
	select {
	case s.chunk = <-s.free:
	default:
		s.chunk = &factChunk{batches: make([]int64, 0, factsShared), fills: make([]serving.Fill, 0, factsShared)}
	}
	return nil
}

// consume calls add with every fact.
func (s *factShare) consume(c *factConsumer, add adder) error {
	for chunk := range c.chunks {
		for i, batch := range chunk.batches {
			if err := add(batch, &chunk.fills[i]); err != nil {
				return err
			}
		}
		if chunk.readers.Add(-1) > 0 {
			continue
		}
		chunk.batches, chunk.fills = chunk.batches[:0], chunk.fills[:0]
		select {
		case s.free <- chunk:
		default:
		}
	}
	return s.failed
}
