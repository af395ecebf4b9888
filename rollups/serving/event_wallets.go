package serving

import (
	"encoding/binary"
	"slices"

	"pmx/data"
)

// eventFirsts is what a market adds to the traders of its event. A wallet counts at
// the first market of the event, by id, that it traded.
type eventFirsts struct {
	wallets  int32 // including the venue's own
	venueSet int32 // place among sets: the venue's own that traded the market
}

// walletSets are sets of the venue's own wallets, each kept once: the wallets trade in many
// markets, and the sets are few.
type walletSets struct {
	sets   [][]data.WalletID
	places map[string]int32
}

// place returns the place of a set, a new one if it was never seen; 0 is the empty set.
func (o *walletSets) place(set []data.WalletID) int32 {
	if o.places == nil {
		o.places, o.sets = map[string]int32{"": 0}, [][]data.WalletID{nil}
	}
	var key []byte
	for _, wallet := range set {
		key = binary.LittleEndian.AppendUint32(key, uint32(wallet))
	}
	i, known := o.places[string(key)]
	if !known {
		i = int32(len(o.sets))
		o.sets, o.places[string(key)] = append(o.sets, slices.Clone(set)), i
	}
	return i
}

// eventTraders counts the distinct wallets that traded an event, without the venue's own. markets
// must be all markets of the event.
func (c *Catalog) eventTraders(markets []int32) int {
	n, last := 0, int32(0)
	var own []data.WalletID
	for _, id := range markets {
		f := c.firsts.at(int(id))
		if f == nil {
			continue
		}
		n += int(f.wallets)
		if f.venueSet != last { // neighbours mostly have the same
			own, last = append(own, c.venueSets[f.venueSet]...), f.venueSet
		}
	}
	slices.Sort(own)
	return n - len(slices.Compact(own))
}
