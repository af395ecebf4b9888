package serving

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync/atomic"

	"pmx/data"
)

const (
	walletBlockBits = 6
	walletBlockSize = 1 << walletBlockBits
)

// walletBlock is a block of wallets with neighbouring ids. A published block is never
// written again: the Builder copies it first. Few wallets have a name; apart from names a block has
// no pointers, so the garbage collector need not scan it.
type walletBlock struct {
	names  *walletNames // nil: none of them has a name
	known  uint64       // bit i: slot i holds a wallet with totals
	totals [walletBlockSize]Totals
}

// walletNames are the user names of the wallets of a block.
type walletNames [walletBlockSize]string

// name returns the name of a slot.
func (p *walletBlock) name(slot int) string {
	if p == nil || p.names == nil {
		return ""
	}
	return p.names[slot]
}

// Wallets is the append-only index from address to wallet id, shared by all
// snapshots of one process. One goroutine adds; any number look up.
type Wallets struct {
	table atomic.Pointer[idTable]
	addrs atomic.Pointer[[]data.Address]
	count int // wallets added, writer only
}

// NewWallets gives an empty index with room for about n wallets.
func NewWallets(n int) *Wallets {
	w := &Wallets{}
	size := uint64(1) << bits.Len64(uint64(max(n, 512)*2))
	w.table.Store(newIDTable(size))
	addrs := make([]data.Address, 0, max(n, 512))
	w.addrs.Store(&addrs)
	return w
}

// walletHash spreads an address: addresses are hashes already, but mined
// vanity addresses share leading zeros, so the trailing bytes are mixed in.
func walletHash(a *data.Address) uint64 {
	x := binary.LittleEndian.Uint64(a[12:]) ^ binary.LittleEndian.Uint64(a[4:])*0x9e3779b97f4a7c15
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

// Add records address a under the next id, which must equal Len.
func (w *Wallets) Add(a data.Address) {
	t := w.table.Load()
	if t.full(w.count) {
		t = w.grow(t)
	}
	addrs := append(*w.addrs.Load(), a)
	w.addrs.Store(&addrs)
	t.insert(walletHash(&a), w.count)
	w.count++
}

func (w *Wallets) grow(t *idTable) *idTable {
	bigger := newIDTable(uint64(len(t.slots)) * 2)
	for i, a := range *w.addrs.Load() {
		bigger.insert(walletHash(&a), i)
	}
	w.table.Store(bigger)
	return bigger
}

// Len is how many wallets the index holds. Only the adding goroutine may call it.
func (w *Wallets) Len() int { return w.count }

// Address returns the address of wallet id, which must have been added.
func (w *Wallets) Address(id data.WalletID) data.Address { return (*w.addrs.Load())[id] }

// Lookup returns the id of a; false if it was never added.
func (w *Wallets) Lookup(a data.Address) (data.WalletID, bool) {
	t := w.table.Load()
	addrs := *w.addrs.Load()
	id, known := t.find(walletHash(&a), func(id int) bool { return id < len(addrs) && addrs[id] == a })
	return data.WalletID(id), known
}

// Trader returns the lifetime figures of wallet a, false if this snapshot has never seen it. The
// Totals are shared and must not be changed.
func (s *Snapshot) Trader(a data.Address) (Trader, bool) {
	if s.wallets == nil {
		return Trader{}, false
	}
	id, ok := s.wallets.Lookup(a)
	if !ok || int(id) >= s.walletsLen {
		return Trader{}, false
	}
	p, slot := s.walletBlocks[id>>walletBlockBits], id&(walletBlockSize-1)
	if p == nil || p.known&(1<<slot) == 0 {
		return Trader{}, false
	}
	return Trader{ID: id, Wallet: a, Name: p.name(int(slot)), Totals: &p.totals[slot]}, true
}

// WalletBuilder makes successive snapshots of the wallets, sharing every block that
// did not change between two of them. It belongs to one goroutine.
type WalletBuilder struct {
	wallets *Wallets
	blocks  []*walletBlock
	ours    []bool       // by block: copied since the last Seal, ours to write
	fresh   []int        // the blocks that are ours
	named   map[int]bool // blocks whose names were copied since
}

// NewWalletBuilder returns a WalletBuilder of no wallets, with room for about n.
func NewWalletBuilder(n int) *WalletBuilder {
	return &WalletBuilder{wallets: NewWallets(n), named: map[int]bool{}}
}

// Wallets is the index the builder adds to.
func (b *WalletBuilder) Wallets() *Wallets { return b.wallets }

// writable returns the block of wallet id, copied first if a snapshot shares it.
func (b *WalletBuilder) writable(id data.WalletID) (*walletBlock, int) {
	n, slot := int(id)>>walletBlockBits, int(id)&(walletBlockSize-1)
	for n >= len(b.blocks) {
		b.blocks, b.ours = append(b.blocks, nil), append(b.ours, false)
	}
	if !b.ours[n] {
		p := &walletBlock{}
		if old := b.blocks[n]; old != nil {
			*p = *old
		}
		b.blocks[n], b.ours[n] = p, true
		b.fresh = append(b.fresh, n)
	}
	return b.blocks[n], slot
}

// Set sets the totals of wallet id.
func (b *WalletBuilder) Set(id data.WalletID, t Totals) { *b.Edit(id) = t }

// Edit returns the totals of wallet id to be written to, until the next Seal. They are zero at first.
func (b *WalletBuilder) Edit(id data.WalletID) *Totals {
	p, slot := b.writable(id)
	p.known |= 1 << slot
	return &p.totals[slot]
}

// Totals returns the current totals of wallet id; false if it has none.
func (b *WalletBuilder) Totals(id data.WalletID) (Totals, bool) {
	n, slot := int(id)>>walletBlockBits, int(id)&(walletBlockSize-1)
	if n >= len(b.blocks) || b.blocks[n] == nil || b.blocks[n].known&(1<<slot) == 0 {
		return Totals{}, false
	}
	return b.blocks[n].totals[slot], true
}

// SetName sets the user name of wallet id.
func (b *WalletBuilder) SetName(id data.WalletID, name string) {
	n := int(id) >> walletBlockBits
	if name == b.Name(id) {
		return
	}
	p, slot := b.writable(id)
	if !b.named[n] {
		names := &walletNames{}
		if p.names != nil {
			*names = *p.names
		}
		p.names, b.named[n] = names, true
	}
	p.names[slot] = name
}

// Name returns the user name of wallet id, "" if it has none.
func (b *WalletBuilder) Name(id data.WalletID) string {
	n := int(id) >> walletBlockBits
	if n >= len(b.blocks) {
		return ""
	}
	return b.blocks[n].name(int(id) & (walletBlockSize - 1))
}

// Seal puts the wallets as they are now into s and starts the next generation.
func (b *WalletBuilder) Seal(s *Snapshot) {
	s.wallets, s.walletsLen = b.wallets, b.wallets.Len()
	s.walletBlocks = append([]*walletBlock(nil), b.blocks...)
	for len(s.walletBlocks)<<walletBlockBits < s.walletsLen {
		s.walletBlocks = append(s.walletBlocks, nil)
	}
	for _, n := range b.fresh {
		b.ours[n] = false
	}
	b.fresh, b.named = b.fresh[:0], map[int]bool{}
}

// FirstTradesAfter counts, for each time in unix µs, the wallets whose first fill
// of all is later. The venue's own are left out. It looks at every wallet.
func (s *Snapshot) FirstTradesAfter(times []int64) []int64 {
	counts := make([]int64, len(times))
	for n, p := range s.walletBlocks {
		if p == nil {
			continue
		}
		for known := p.known; known != 0; known &= known - 1 {
			slot := bits.TrailingZeros64(known)
			first := p.totals[slot].FirstTS
			for i, at := range times {
				if first <= at {
					continue
				}
				if _, own := slices.BinarySearch(s.Venue, data.WalletID(n<<walletBlockBits|slot)); !own {
					counts[i]++
				}
			}
		}
	}
	return counts
}

// Wallets is how many wallets the snapshot knows.
func (s *Snapshot) Wallets() int { return s.walletsLen }

// WalletAt returns the address of a wallet, 0 ≤ id < Wallets.
func (s *Snapshot) WalletAt(id data.WalletID) data.Address { return s.wallets.Address(id) }
