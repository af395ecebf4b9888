package api

import (
	"sync/atomic"
	"time"

	"pmx/rollups/serving"
)

// encodedSnapshot is a published snapshot with the bodies that were encoded from it. A body is
// encoded when it is first requested.
type encodedSnapshot struct {
	snap           *serving.Snapshot
	asOf           []byte // as JSON
	leaderboards   leaderboardBodies
	stats          statsBodies
	oracle         oracleBodies
	markets        *marketEpoch
	holdings       *marketEpoch // markets, for scans of wallets' markets
	screener       screenerFirstPage
	index          indexBodies
	whales         whaleBodies
	weatherTraders weatherTraderBodies
	research       catalogueBody
	desk           weatherBodies
	bodyBytes      atomic.Int64 // of the encoded bodies that are kept
}

func newEncodedSnapshot(snap *serving.Snapshot) *encodedSnapshot {
	v := &encodedSnapshot{snap: snap, asOf: appendTime(nil, snap.AsOf)}
	v.markets = newMarketEpoch(snap, v.asOf)
	v.holdings = v.markets.withoutScreener()
	return v
}

// window is the text before the rows of a ranking over period p.
func (v *encodedSnapshot) window(p serving.Period) []byte { return windowText(v.snap.AsOf, p) }

// windowText is the text before the rows of a ranking over a period up to asOf.
func windowText(asOf time.Time, p serving.Period) []byte {
	b := append([]byte(`,"period":"`), p.String()...)
	b = append(b, `","window_start":`...)
	if asOf.IsZero() {
		return append(b, `null,"window_end":null`...)
	}
	b = appendTime(b, asOf.Add(-p.Length()))
	return appendTime(append(b, `,"window_end":`...), asOf)
}
