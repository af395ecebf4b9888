package walletrun

import (
	"slices"
	"sync"
	"sync/atomic"

	"pmx/rollups/serving"
)

// tail is what came in since the run was written, by wallet. One goroutine adds,
// any number read.
type tail struct {
	base    int64 // nothing up to this batch is in it
	shards  [64]shard
	rows    atomic.Int64
	through atomic.Int64 // the last batch in it
	dirty   atomic.Int64 // wallets marked
}

type shard struct {
	mu      sync.RWMutex
	wallets map[int32]walletTail
}

// walletTail is what came in of one wallet, in the order of Fill.Compare. A list
// that was read is never changed below its length.
type walletTail struct {
	fills   []recent
	changed int64 // the last batch that replaced a fill of the wallet; 0: none, else one more than it
}

// recent is a fill and the batch it came with.
type recent struct {
	serving.Fill
	batch int64
}

func newTail(base, through int64) *tail {
	t := &tail{base: base}
	for i := range t.shards {
		t.shards[i].wallets = map[int32]walletTail{}
	}
	t.through.Store(through)
	return t
}

func (t *tail) shard(wallet int32) *shard { return &t.shards[uint32(wallet)%uint32(len(t.shards))] }

// of gives what came in of a wallet.
func (t *tail) of(wallet int32) walletTail {
	s := t.shard(wallet)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.wallets[wallet]
}

// add takes fills of one batch and wallet in; it keeps none of the slice.
func (t *tail) add(wallet int32, batch int64, fills []serving.Fill) {
	slices.SortFunc(fills, func(x, y serving.Fill) int { return x.Compare(&y) })
	s := t.shard(wallet)
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.wallets[wallet]
	w.fills = merged(w.fills, batch, fills)
	s.wallets[wallet] = w
	t.rows.Add(int64(len(fills)))
}

// merged adds sorted fills to a sorted list: behind it where they are newer, else
// in a list of its own.
func merged(list []recent, batch int64, fills []serving.Fill) []recent {
	if n := len(list); n > 0 && list[n-1].Compare(&fills[0]) > 0 {
		list = slices.Clone(list)
		for _, f := range fills {
			list = append(list, recent{f, batch})
		}
		slices.SortFunc(list, func(x, y recent) int { return x.Compare(&y.Fill) })
		return list
	}
	for _, f := range fills {
		list = append(list, recent{f, batch})
	}
	return list
}

// mark notes that a batch replaced a fill of the wallet.
func (t *tail) mark(wallet int32, batch int64) {
	s := t.shard(wallet)
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.wallets[wallet]
	if w.changed == 0 {
		t.dirty.Add(1)
	}
	w.changed = batch + 1
	s.wallets[wallet] = w
}

// marked lists the wallets that a batch up to that one changed.
func (t *tail) marked(batch int64) []int32 {
	var out []int32
	for i := range t.shards {
		for wallet, w := range t.shards[i].wallets {
			if w.changed > 0 && w.changed <= batch+1 {
				out = append(out, wallet)
			}
		}
	}
	slices.Sort(out)
	return out
}

// since gives a tail of what came in after a batch.
func (t *tail) since(batch int64) *tail {
	out := newTail(batch, max(batch, t.through.Load()))
	for i := range t.shards {
		for wallet, w := range t.shards[i].wallets {
			kept := walletTail{}
			for _, r := range w.fills {
				if r.batch > batch {
					kept.fills = append(kept.fills, r)
				}
			}
			if w.changed > batch+1 {
				kept.changed = w.changed
				out.dirty.Add(1)
			}
			if kept.fills != nil || kept.changed > 0 {
				out.shards[i].wallets[wallet] = kept
				out.rows.Add(int64(len(kept.fills)))
			}
		}
	}
	return out
}
