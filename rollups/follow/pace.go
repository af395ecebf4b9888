package follow

import "time"

// pace estimates when the newest final block moves, and by how many blocks, so that a node is asked
// at about that time: soon after the move, and not much more often than it moves.
type pace struct {
	every time.Duration // between two looks; 0: adapted to the head's moves

	head      int64
	at        time.Time     // about when it moved there
	missed    time.Time     // the last look since then that found nothing new
	mean, dev time.Duration // of the times between moves; mean 0: not known yet
	gap       time.Duration // from a look that found nothing new to the next
	first     time.Time     // number of looks for the next move
	due       time.Time     // time of the next look
	steps     [8]int64      // number of blocks of the last moves
	moves     int
}

const (
	// lookGap is the time from a look that finds nothing new to the next, and so the maximum delay
	// for a head that moves regularly; wideGap is that for one that moves irregularly.
	lookGap = 250 * time.Millisecond
	wideGap = 600 * time.Millisecond
	// mostGap is the maximum to which the gap grows if the head moves much later than usual.
	mostGap = 2 * time.Second
	// creep is how much earlier the next look is if the first one already finds that the head has
	// moved, perhaps long before.
	creep = 25 * time.Millisecond
	// longestMove is a time between two moves that is not representative of others.
	longestMove = time.Minute
	// firstMoves is the number of moves that are looked for without a pause, to learn how long they
	// take.
	firstMoves = 4
	// halfway is the number of moves after which one is looked for after half the time: a node that
	// is asked only at every second move does not show the others.
	halfway = 16
)

// saw records the newest final block at a look that was sent at a time.
func (p *pace) saw(head int64, at time.Time) {
	if head <= p.head {
		p.still(at)
	} else {
		p.moved(head, at)
	}
	if p.every > 0 {
		p.due = at.Add(p.every)
	}
}

// still records a look that found nothing new.
func (p *pace) still(at time.Time) {
	p.gap = max(p.gap, lookGap, min(wideGap, p.dev/2))
	if at.Sub(p.at) > max(5*mostGap, p.mean+4*p.dev+mostGap) {
		p.gap = min(p.gap*3/2, mostGap)
	}
	if p.due = at.Add(p.gap); at.Before(p.first) {
		p.due = p.first
		return
	}
	p.missed = at
}

// moved records a look that found a newer block.
func (p *pace) moved(head int64, at time.Time) {
	when := at
	switch expected := p.at.Add(p.mean); {
	case p.missed.After(p.at): // between two looks
		when = p.missed.Add(at.Sub(p.missed) / 2)
	case p.mean > 0 && expected.Before(at): // at that time or earlier
		when = expected.Add(-creep)
	}
	if p.head > 0 {
		p.learn(head-p.head, when.Sub(p.at))
	}
	p.head, p.at, p.missed, p.gap = head, when, time.Time{}, 0
	p.first = when.Add(p.mean - min(p.mean, max(0, 2*p.dev-lookGap/2))) // before most of the next moves
	if soonest := at.Add(lookGap / 2); p.first.Before(soonest) {
		p.first = soonest
	}
	p.due = p.first
	if p.moves%halfway == 0 {
		p.due = at.Add(p.first.Sub(at) / 2)
	}
}

// learn updates the estimates with a move of so many blocks in a time. One of many times the usual
// number of blocks consists of several moves, or nobody looked in between.
func (p *pace) learn(blocks int64, took time.Duration) {
	least, most := p.usual()
	if most > 0 && blocks > 4*most || took <= 0 || took > longestMove {
		if most == 0 {
			p.steps[0] = blocks
		}
		return
	}
	p.steps[p.moves%len(p.steps)] = blocks
	p.moves++
	if least > 0 {
		took /= time.Duration(max(1, blocks/least))
	}
	switch off := took - p.mean; {
	case p.moves < firstMoves:
	case p.mean == 0, took < p.mean*5/8 && p.dev < p.mean/8: // half of the assumed time
		p.mean = took
	default:
		p.mean += off / 8
		p.dev += (off.Abs() - p.dev) / 4
	}
}

// usual returns the minimum and maximum number of blocks of recent moves; 0: not known yet.
func (p *pace) usual() (least, most int64) {
	for _, s := range p.steps {
		if s > 0 && (least == 0 || s < least) {
			least = s
		}
		most = max(most, s)
	}
	return least, most
}
