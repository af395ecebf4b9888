package api

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"pmx/rollups/serving"
	"pmx/rollups/serving/screen"
)

const (
	// walkIdle is how long after its last page the data of a walk is kept.
	walkIdle = 10 * time.Minute
	// keepWalks and keepWalkBytes bound the data that is kept for walks alone.
	keepWalks     = 64
	keepWalkBytes = 512 << 20
)

// walk is one epoch's markets, in which the walks go on that began in it: so no
// page is shifted by what comes in meanwhile. Its data never changes.
type walk struct {
	screener *serving.Screener
	catalog  *serving.Catalog
	asOf     []byte // as JSON

	// Of walks.mu.
	id       uint64 // 0: no cursor goes on in it yet
	used     time.Time
	followed bool // some walk came to a second page
}

func newWalk(snap *serving.Snapshot, asOf []byte) *walk {
	return &walk{screener: snap.Screener, catalog: snap.Catalog, asOf: asOf}
}

// alone is about how many bytes w keeps that o does not.
func (w *walk) alone(o *walk) int64 {
	if w.screener == nil || o.screener == nil {
		return 0
	}
	return w.screener.Alone(o.screener) + w.catalog.Alone(o.catalog)
}

// walks keeps the data of walks that are under way.
type walks struct {
	mu   sync.Mutex
	boot uint64 // when this run started: tells cursors of an earlier one
	last uint64 // the newest id
	most int64  // bytes kept for walks alone
	kept []*walk
}

func newWalks(started time.Time) *walks {
	return &walks{boot: uint64(started.UnixNano()), most: keepWalkBytes}
}

// keep keeps w from now on, since a cursor that goes on in it is given out.
// current is the walk of the published snapshot.
func (k *walks) keep(w, current *walk, now time.Time) (id uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if w.id == 0 {
		k.last++
		w.id = k.last
	}
	w.used = now
	if !slices.Contains(k.kept, w) {
		k.kept = append(k.kept, w)
		slices.SortFunc(k.kept, func(a, b *walk) int { return int(int64(a.id - b.id)) })
		k.evict(current)
	}
	return w.id
}

// follow gives the walk of an id; nil where it is not kept any more.
func (k *walks) follow(id uint64, current *walk, now time.Time) *walk {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expire(now)
	w := current
	if w == nil || w.id != id {
		at := slices.IndexFunc(k.kept, func(w *walk) bool { return w.id == id })
		if at < 0 {
			return nil
		}
		w = k.kept[at]
	}
	w.used, w.followed = now, true
	return w
}

// sweep lets go of what is idle or, now that current is published, too much.
func (k *walks) sweep(current *walk, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expire(now)
	k.evict(current)
}

func (k *walks) expire(now time.Time) {
	k.kept = slices.DeleteFunc(k.kept, func(w *walk) bool { return now.Sub(w.used) > walkIdle })
}

// evict lets go of walks while they are too many or too big: first of those that
// nobody followed, and of these of the one that was idle longest.
func (k *walks) evict(current *walk) {
	for len(k.kept) > keepWalks || len(k.kept) > 0 && k.bytes(current) > k.most {
		victim := -1
		for i, w := range k.kept {
			if w == current && len(k.kept) > 1 {
				continue // it costs nothing
			}
			if victim < 0 || w.lessWanted(k.kept[victim]) {
				victim = i
			}
		}
		k.kept = slices.Delete(k.kept, victim, victim+1)
	}
}

func (w *walk) lessWanted(o *walk) bool {
	if w.followed != o.followed {
		return o.followed
	}
	return w.used.Before(o.used)
}

// bytes is what the kept walks hold that current does not: each what the next
// newer one has not.
func (k *walks) bytes(current *walk) int64 {
	n := int64(0)
	for i, w := range k.kept {
		next := current
		if i+1 < len(k.kept) {
			next = k.kept[i+1]
		}
		if next != nil && w != next {
			n += w.alone(next)
		}
	}
	return n
}

// screenPlaceSize is the bytes of a place in a walk through the screener.
const screenPlaceSize = 8 + 8 + 8 + 8 + 32

// appendScreenPlace adds the place p in the walk of an id.
func (k *walks) appendScreenPlace(b []byte, id uint64, p *screen.Place) []byte {
	for _, n := range []uint64{k.boot, id, uint64(p.Value), uint64(p.Volume)} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return append(b, p.Condition[:]...)
}

// readScreenPlace reads what appendScreenPlace wrote and finds the walk.
func (a *API) readScreenPlace(b []byte, v *view, now time.Time) (*walk, *screen.Place, *problem) {
	if len(b) != screenPlaceSize {
		return nil, nil, badCursor()
	}
	var w *walk
	if binary.BigEndian.Uint64(b) == a.walks.boot {
		w = a.walks.follow(binary.BigEndian.Uint64(b[8:]), v.walk, now)
	}
	if w == nil {
		p := badCursor()
		p.detail = "This walk has expired: its data is kept for 10 minutes after the last page, for less where memory is short, " +
			"and not over a restart. Leave cursor out to start again."
		return nil, nil, p
	}
	place := &screen.Place{Value: int64(binary.BigEndian.Uint64(b[16:])), Volume: int64(binary.BigEndian.Uint64(b[24:]))}
	copy(place.Condition[:], b[32:])
	return w, place, nil
}
