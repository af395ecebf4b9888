package serving

import (
	"math"

	"pmx/data"
)

// NoValue stands for a figure that is not known: null, never a number.
const NoValue data.Micro = math.MinInt64

// Figures are the figures of a market. Volumes are of the market's basis: taker fills, or maker
// fills if it never had any other. Windows end at the snapshot's AsOf.
type Figures struct {
	VolumeUSD, VolumeShares        data.Micro // lifetime
	Volume24h, Volume7d, Volume30d data.Micro // dollars
	Trades                         int64      // fills behind VolumeUSD
	FirstTS, LastTS                int64      // unix µs of the first and last fill of any role, 0: none
	Price                          data.Micro // of the first outcome: last traded, or its payout; NoValue: neither
	PriceChange24h                 data.Micro // Price minus the one 24 hours before AsOf; NoValue: there was none
	// WhaleFlow24h is the dollars of whale moves of the last 24 hours towards the first outcome
	// minus those away from it; 0 without moves.
	WhaleFlow24h      data.Micro
	Liquidity, Spread data.Micro // as a source gave them; NoValue: none did
	Traders           int32      // distinct wallets, lifetime
	Traders24h        int32      // distinct wallets of the last 24 hours
	Binary            bool       // two outcomes, so that one is the complement of the other
	makers            bool       // VolumeUSD counts maker fills
}

// NewFigures returns the figures of a market without a trade, in basis b.
func NewFigures(b VolumeBasis) Figures {
	return Figures{Price: NoValue, PriceChange24h: NoValue, Liquidity: NoValue, Spread: NoValue, makers: b == MakerUSD}
}

// Basis says which fills the volumes add up.
func (f *Figures) Basis() VolumeBasis {
	if f.makers {
		return MakerUSD
	}
	return TakerUSD
}

// Volume is the dollars of a window.
func (f *Figures) Volume(p Period) data.Micro {
	return [Periods]data.Micro{f.Volume24h, f.Volume7d, f.Volume30d}[p]
}
