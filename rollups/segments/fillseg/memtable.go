package fillseg

import (
	"cmp"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"pmx/rollups/serving"
)

// memtable has the fills that were imported since the segment was written, by key. One goroutine
// adds, any number read.
type memtable struct {
	kind
	after   int64        // nothing up to this batch is in it
	facts   []batchFacts // changed within Store.Change only
	shards  [64]shard
	rows    atomic.Int64
	through atomic.Int64 // the last batch in it
	dirty   atomic.Int64 // keys marked
}

// batchFacts says by how many facts a batch increased their number.
type batchFacts struct{ batch, facts int64 }

type shard struct {
	mu   sync.RWMutex
	keys map[int32]recentFills
}

// recentFills are the recent fills of one key, in order. A list that was read is never changed
// within its length.
type recentFills struct {
	fills   []recent
	older   []older // in a store of the newest fills: those that are not in fills, in no order
	changed int64   // the last batch that replaced a fill of the key; 0: none, else one more than it
	from    int64   // fills that only reads of batches before this one see may be gone
}

// recent is a fill and the batch it came with.
type recent struct {
	serving.Fill
	batch int64
}

func newMemtable(k kind, base, through int64) *memtable {
	t := &memtable{kind: k, after: base}
	for i := range t.shards {
		t.shards[i].keys = map[int32]recentFills{}
	}
	t.through.Store(through)
	return t
}

// After is the batch up to which nothing is in it.
func (t *memtable) After() int64 { return t.after }

// Through is the last batch in it.
func (t *memtable) Through() int64 { return t.through.Load() }

// take adds what an import changed.
func (t *memtable) take(b Batch) {
	slices.SortFunc(b.Fills, func(x, y serving.Fill) int {
		if c := cmp.Compare(t.key(&x), t.key(&y)); c != 0 {
			return c
		}
		return t.order(&x, &y)
	})
	for from := 0; from < len(b.Fills); {
		key, to := t.key(&b.Fills[from]), from+1
		for to < len(b.Fills) && t.key(&b.Fills[to]) == key {
			to++
		}
		t.add(key, b.Number, b.Fills[from:to])
		from = to
	}
	t.facts = append(t.facts, batchFacts{b.Number, int64(len(b.Fills) - len(b.Replaced))})
	for i := range b.Replaced {
		t.mark(t.key(&b.Replaced[i]), b.Number)
	}
	t.through.Store(max(t.through.Load(), b.Number))
}

func (t *memtable) shard(key int32) *shard { return &t.shards[uint32(key)%uint32(len(t.shards))] }

// of returns the recent fills of a key.
func (t *memtable) of(key int32) recentFills {
	s := t.shard(key)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.keys[key]
}

// add adds the fills of one batch and key, which are in order; it does not keep the slice.
func (t *memtable) add(key int32, batch int64, fills []serving.Fill) {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.keys[key]
	if from := len(fills) - t.most; t.most > 0 && from > 0 {
		for i := range fills[:from] {
			w.older = append(w.older, t.outdated(&fills[i], batch))
		}
		fills = fills[from:]
	}
	before := len(w.fills)
	w.fills = t.merged(w.fills, batch, fills)
	if t.most > 0 && len(w.fills) > trimAt*t.most {
		t.trim(&w, t.through.Load())
	}
	s.keys[key] = w
	t.rows.Add(int64(len(w.fills) - before))
}

// trimAt times as many fills as a key needs may gather before it is trimmed.
const trimAt = 3

// trim keeps the fills that reads of batches from batch on may see: the newest ones up to batch,
// and all later ones.
func (t *memtable) trim(w *recentFills, batch int64) {
	most := t.most
	kept := make([]recent, 0, 2*most)
	for i := len(w.fills) - 1; i >= 0; i-- {
		r := &w.fills[i]
		if r.batch > batch {
			kept = append(kept, *r)
		} else if most > 0 {
			kept = append(kept, *r)
			most--
		} else {
			w.older = append(w.older, t.outdated(&r.Fill, r.batch))
		}
	}
	slices.Reverse(kept)
	w.fills, w.from = kept, batch
}

// merged adds sorted fills to a sorted list: appended if they are newer, else in a new list.
func (t *memtable) merged(list []recent, batch int64, fills []serving.Fill) []recent {
	at := len(list)
	if at > 0 && t.order(&list[at-1].Fill, &fills[0]) > 0 {
		at = sort.Search(at, func(i int) bool { return t.order(&list[i].Fill, &fills[0]) > 0 })
	}
	later := list[at:]
	if len(later) > 0 {
		list = append(make([]recent, 0, len(list)+len(fills)+len(list)/4), list[:at]...)
	}
	for _, f := range fills {
		for len(later) > 0 && t.order(&later[0].Fill, &f) < 0 {
			list, later = append(list, later[0]), later[1:]
		}
		list = append(list, recent{f, batch})
	}
	return append(list, later...)
}

// mark records that a batch replaced a fill of the key.
func (t *memtable) mark(key int32, batch int64) {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.keys[key]
	if w.changed == 0 {
		t.dirty.Add(1)
	}
	w.changed = batch + 1
	s.keys[key] = w
}

// marked lists the keys in which a batch up to batch replaced a fill.
func (t *memtable) marked(batch int64) []int32 {
	var out []int32
	for i := range t.shards {
		for key, w := range t.shards[i].keys {
			if w.changed > 0 && w.changed <= batch+1 {
				out = append(out, key)
			}
		}
	}
	slices.Sort(out)
	return out
}

// since are the fills of later imports than a batch.
func (w *recentFills) since(batch int64) recentFills {
	kept := recentFills{from: w.from}
	for _, r := range w.fills {
		if r.batch > batch {
			kept.fills = append(kept.fills, r)
		}
	}
	for _, o := range w.older {
		if o.batch > batch {
			kept.older = append(kept.older, o)
		}
	}
	return kept
}

// Since returns a memtable with the fills of later imports than a batch.
func (t *memtable) Since(batch int64) *memtable {
	out := newMemtable(t.kind, batch, max(batch, t.through.Load()))
	for _, f := range t.facts {
		if f.batch > batch {
			out.facts = append(out.facts, f)
		}
	}
	for i := range t.shards {
		for key, w := range t.shards[i].keys {
			kept := w.since(batch)
			if w.changed > batch+1 {
				kept.changed = w.changed
				out.dirty.Add(1)
			}
			if kept.fills != nil || kept.older != nil || kept.changed > 0 {
				out.shards[i].keys[key] = kept
				out.rows.Add(int64(len(kept.fills)))
			}
		}
	}
	return out
}
