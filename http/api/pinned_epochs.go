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
	// pinIdle is how long an epoch stays pinned after the last page that was read from it.
	pinIdle = 10 * time.Minute
	// maxPinned and maxPinnedBytes bound what is kept in memory only for pinned epochs: for scans of
	// the screener, and as much again for those of wallets' markets.
	maxPinned      = 64
	maxPinnedBytes = 256 << 20
)

// marketEpoch has the markets of one epoch. A scan stays in the epoch in which it began, so that
// imports do not shift its pages. The data never changes.
type marketEpoch struct {
	screener *serving.Screener // nil for scans that do not need it
	catalog  *serving.Catalog
	asOf     []byte // as JSON
	epoch    uint64 // of the snapshot
	batch    int64  // the last import in it

	// Guarded by pinnedEpochs.mu.
	id       uint64 // 0: no cursor refers to it yet
	lastUsed time.Time
	resumed  bool // some scan read a second page
}

func newMarketEpoch(snap *serving.Snapshot, asOf []byte) *marketEpoch {
	return &marketEpoch{screener: snap.Screener, catalog: snap.Catalog, asOf: asOf, epoch: snap.Epoch, batch: snap.Batch}
}

// withoutScreener is the epoch for scans of wallets' markets, which read only the catalog: a commit changes ten
// times as many bytes in the screener's columns as in the catalog, and a pinned epoch keeps the old version of
// both.
func (w *marketEpoch) withoutScreener() *marketEpoch {
	return &marketEpoch{catalog: w.catalog, asOf: w.asOf, epoch: w.epoch, batch: w.batch}
}

// ownBytes is about how many bytes w keeps in memory that o does not.
func (w *marketEpoch) ownBytes(o *marketEpoch) int64 {
	n := w.catalog.UnsharedBytes(o.catalog)
	if w.screener != nil && o.screener != nil {
		n += w.screener.UnsharedBytes(o.screener)
	}
	return n
}

// pinnedEpochs keeps the epochs that scans of one kind are reading.
type pinnedEpochs struct {
	mu       sync.Mutex
	boot     uint64 // when the process started: cursors of earlier processes have expired
	lastID   uint64 // the newest id
	maxBytes int64  // that may be kept only for pinned epochs
	epochs   []*marketEpoch
}

func newPinnedEpochs(started time.Time) *pinnedEpochs {
	return &pinnedEpochs{boot: uint64(started.UnixNano()), maxBytes: maxPinnedBytes}
}

// pin keeps w, because a cursor that refers to it is sent. current is the published epoch.
func (k *pinnedEpochs) pin(w, current *marketEpoch, now time.Time) (id uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if w.id == 0 {
		k.lastID++
		w.id = k.lastID
	}
	w.lastUsed = now
	if !slices.Contains(k.epochs, w) {
		k.epochs = append(k.epochs, w)
		slices.SortFunc(k.epochs, func(a, b *marketEpoch) int { return int(int64(a.id - b.id)) })
		k.evict(current)
	}
	return w.id
}

// lookUp returns the epoch with an id, nil if it is no longer pinned.
func (k *pinnedEpochs) lookUp(id uint64, current *marketEpoch, now time.Time) *marketEpoch {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expire(now)
	w := current
	if w == nil || w.id != id {
		at := slices.IndexFunc(k.epochs, func(w *marketEpoch) bool { return w.id == id })
		if at < 0 {
			return nil
		}
		w = k.epochs[at]
	}
	w.lastUsed, w.resumed = now, true
	return w
}

// sweep drops epochs that are idle and, since current is published, those that exceed the bounds.
func (k *pinnedEpochs) sweep(current *marketEpoch, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expire(now)
	k.evict(current)
}

func (k *pinnedEpochs) expire(now time.Time) {
	k.epochs = slices.DeleteFunc(k.epochs, func(w *marketEpoch) bool { return now.Sub(w.lastUsed) > pinIdle })
}

// evict drops epochs while they are too many or too big: first those from which
// no second page was read, and among these the one that was idle longest.
func (k *pinnedEpochs) evict(current *marketEpoch) {
	for len(k.epochs) > maxPinned || len(k.epochs) > 0 && k.pinnedBytes(current) > k.maxBytes {
		victim := -1
		for i, w := range k.epochs {
			if w == current && len(k.epochs) > 1 {
				continue // it costs nothing
			}
			if victim < 0 || w.evictBefore(k.epochs[victim]) {
				victim = i
			}
		}
		k.epochs = slices.Delete(k.epochs, victim, victim+1)
	}
}

func (w *marketEpoch) evictBefore(o *marketEpoch) bool {
	if w.resumed != o.resumed {
		return o.resumed
	}
	return w.lastUsed.Before(o.lastUsed)
}

// pinnedBytes is the memory of the pinned epochs that is not shared with current: for each epoch,
// what it does not share with the next newer one.
func (k *pinnedEpochs) pinnedBytes(current *marketEpoch) int64 {
	n := int64(0)
	for i, w := range k.epochs {
		next := current
		if i+1 < len(k.epochs) {
			next = k.epochs[i+1]
		}
		if next != nil && w != next {
			n += w.ownBytes(next)
		}
	}
	return n
}

// pinSize is the size of the reference to a pinned epoch in a cursor.
const pinSize = 8 + 8

// appendPin adds the reference to the epoch id to a cursor.
func (k *pinnedEpochs) appendPin(b []byte, id uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, k.boot), id)
}

// readPin finds the epoch that a cursor begins with, and returns the rest of the cursor, which must
// be of the given size.
func (k *pinnedEpochs) readPin(b []byte, size int, current *marketEpoch, now time.Time) (*marketEpoch, []byte, *problem) {
	if len(b) != pinSize+size {
		return nil, nil, badCursor()
	}
	var w *marketEpoch
	if binary.BigEndian.Uint64(b) == k.boot {
		w = k.lookUp(binary.BigEndian.Uint64(b[8:]), current, now)
	}
	if w == nil {
		p := badCursor()
		p.detail = "This scan has expired: its data is kept for 10 minutes after the last page, for a shorter time if memory is " +
			"short, and not across a restart. Omit cursor to start again."
		return nil, nil, p
	}
	return w, b[pinSize:], nil
}

// screenerPositionSize is the size of a position in a scan of the screener, after the epoch.
const screenerPositionSize = 8 + 8 + 32

// appendPosition adds the position p in the epoch id.
func (k *pinnedEpochs) appendPosition(b []byte, id uint64, p *screen.Place) []byte {
	b = binary.BigEndian.AppendUint64(k.appendPin(b, id), uint64(p.Value))
	return append(binary.BigEndian.AppendUint64(b, uint64(p.Volume)), p.Condition[:]...)
}

// readScreenerPosition reads what appendPosition wrote and finds the epoch.
func (a *API) readScreenerPosition(b []byte, v *encodedSnapshot, now time.Time) (*marketEpoch, *screen.Place, *problem) {
	w, b, bad := a.pinned.readPin(b, screenerPositionSize, v.markets, now)
	if bad != nil {
		return nil, nil, bad
	}
	place := &screen.Place{Value: int64(binary.BigEndian.Uint64(b)), Volume: int64(binary.BigEndian.Uint64(b[8:]))}
	copy(place.Condition[:], b[16:])
	return w, place, nil
}
