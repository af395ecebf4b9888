package keeper

import "testing"

// TestTheShareOfABackupsPartsIsExact: what is reported at the end of reading ahead is not yet part of the frozen database, however
// large the file is.
func TestTheShareOfABackupsPartsIsExact(t *testing.T) {
	for size := int64(1); size < 300; size++ {
		var last float64
		b := &backingUp{done: func(share float64) { last = share }}
		ahead, frozen := b.share(0, aheadShare, size<<17), b.share(aheadShare, 1-aheadShare, size<<17)
		ahead(size << 16)
		if ahead(size << 16); last != aheadShare {
			t.Errorf("%d blocks: %v after reading ahead", size, last)
		}
		if frozen(size << 17); last != 1 {
			t.Errorf("%d blocks: %v at the end", size, last)
		}
	}
}
