package serving

import "reflect"

// Compare counts the wallets and board rows of s, and those that differ in o:
// how a followed snapshot is held against one loaded anew.
func (s *Snapshot) Compare(o *Snapshot) (rows, differ int64) {
	note := func(same bool) {
		rows++
		if !same {
			differ++
		}
	}
	note(s.AsOf.Equal(o.AsOf) && s.Counts == o.Counts && s.walletsLen == o.walletsLen)
	note(reflect.DeepEqual(s.Stats, o.Stats))
	for p := range Periods {
		note(reflect.DeepEqual(s.Traders[p], o.Traders[p]))
		note(reflect.DeepEqual(s.Markets[p], o.Markets[p]))
	}
	for id := range min(s.walletsLen, o.walletsLen) {
		a := s.wallets.Address(id)
		x, okX := s.Trader(a)
		y, okY := o.Trader(a)
		note(okX == okY && x.Name == y.Name && (!okX || *x.Totals == *y.Totals))
	}
	return rows, differ
}
