package follow

import "time"

// pace learns when the newest final block moves on, and by how many blocks, so that a node is
// asked about when it does: as soon as is worth it, and not much oftener than it moves.
type pace struct {
	every time.Duration // between two looks; 0: as the head moves

	head      int64
	at        time.Time     // about when it became that
	missed    time.Time     // the last look since that found nothing new
	mean, dev time.Duration // of the time between two moves; mean 0: not known yet
	gap       time.Duration // from a look that found nothing new to the one behind it
	first     time.Time     // of the looks for the next move
	due       time.Time     // of the next look
	steps     [8]int64      // blocks of the last moves
	moves     int
}

const (
	// lookGap is from a look that finds nothing new to the next, and the longest that a head
	// which moves regularly goes unseen; wideGap is that of one which moves at any time.
	lookGap = 250 * time.Millisecond
	wideGap = 600 * time.Millisecond
	// mostGap is what it grows to where the head moves much later than usual.
	mostGap = 2 * time.Second
	// creep is how much earlier the next look is where the first one finds the head moved: it
	// may have done so long before.
	creep = 25 * time.Millisecond
	// longestMove is a time between two moves that says nothing of the others.
	longestMove = time.Minute
	// firstMoves are looked for without a pause, to learn how long they take.
	firstMoves = 4
	// halfway is after how many moves one is looked for after half the time: a node asked at
	// every other move alone shows nothing of those between.
	halfway = 16
)

// saw notes what the newest final block was at a look, which was sent at some time.
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

// still notes a look that found nothing new.
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

// moved notes a look that found a newer block.
func (p *pace) moved(head int64, at time.Time) {
	when := at
	switch expected := p.at.Add(p.mean); {
	case p.missed.After(p.at): // between two looks
		when = p.missed.Add(at.Sub(p.missed) / 2)
	case p.mean > 0 && expected.Before(at): // then, or earlier
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

// learn takes a move of so many blocks in some time into account; one of many times the usual
// blocks is several, or says that nobody looked.
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
	case p.mean == 0, took < p.mean*5/8 && p.dev < p.mean/8: // half of what was held to be all
		p.mean = took
	default:
		p.mean += off / 8
		p.dev += (off.Abs() - p.dev) / 4
	}
}

// usual is by how many blocks the head moves at least and at most, of late; 0: not known yet.
func (p *pace) usual() (least, most int64) {
	for _, s := range p.steps {
		if s > 0 && (least == 0 || s < least) {
			least = s
		}
		most = max(most, s)
	}
	return least, most
}
