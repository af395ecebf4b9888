// Package access decides who may send requests and how many: the tiers and their caps, the API
// keys, the rate limits and the limit on failed authentication.
package access

import (
	"fmt"

	"pmx/http/wire"
)

// Tier is the plan of an API key.
type Tier uint8

// The tiers, lowest first. Nobody is a caller without a valid key.
const (
	Free Tier = iota
	Explorer
	Trader
	Alpha
	Nobody
)

// Tiers returns the tiers that a key can have, lowest first.
func Tiers() []Tier { return []Tier{Free, Explorer, Trader, Alpha} }

// Caps are the limits of a tier.
type Caps struct {
	Rate        int  // requests per 60 seconds
	HistoryDays int  // how far back rows reach; 0: all history
	Rows        int  // rows per response
	Compare     int  // wallets per comparison
	Export      bool // may create export jobs
}

// Caps returns the limits of t; all zero for Nobody.
func (t Tier) Caps() Caps {
	return [...]Caps{
		Free:     {Rate: 30, HistoryDays: 30, Rows: 20, Compare: 1},
		Explorer: {Rate: 300, HistoryDays: 180, Rows: 50, Compare: 2},
		Trader:   {Rate: 1000, HistoryDays: 365, Rows: 200, Compare: 3, Export: true},
		Alpha:    {Rate: 100_000, Rows: 1000, Compare: 10, Export: true},
		Nobody:   {},
	}[t]
}

// String returns the name in the API: free, explorer, trader, alpha; empty for Nobody.
func (t Tier) String() string {
	return [...]string{"free", "explorer", "trader", "alpha", ""}[t]
}

// ParseTier parses a name in the API; the error lists the valid names.
func ParseTier(s string) (Tier, error) {
	for _, t := range Tiers() {
		if s == t.String() {
			return t, nil
		}
	}
	return Nobody, fmt.Errorf("tier %q: use free, explorer, trader or alpha", s)
}

// Sections splits the API's sections into those that t can see and those that it cannot. Nobody
// sees only the public status section.
func (t Tier) Sections() (available, locked []wire.Section) {
	for _, s := range wire.Sections() {
		open := s != wire.Export || t.Caps().Export
		if t == Nobody {
			open = s == wire.Status
		}
		if open {
			available = append(available, s)
		} else {
			locked = append(locked, s)
		}
	}
	return available, locked
}

// LowestWithRows returns the lowest tier whose row cap is at least n; false if no tier reaches it.
func LowestWithRows(n int) (Tier, bool) {
	for _, t := range Tiers() {
		if t.Caps().Rows >= n {
			return t, true
		}
	}
	return Nobody, false
}

// LowestWithCompare returns the lowest tier that compares n wallets at once.
func LowestWithCompare(n int) Tier {
	for _, t := range Tiers() {
		if t.Caps().Compare >= n {
			return t
		}
	}
	return Alpha
}

// LowestWithHistory returns the lowest tier that shows rows up to days old.
func LowestWithHistory(days int) Tier {
	for _, t := range Tiers() {
		if most := t.Caps().HistoryDays; most == 0 || most >= days {
			return t
		}
	}
	return Alpha
}
