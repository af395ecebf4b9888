package serving

import "pmx/data"

// Activity is what was traded at the venue in some period. Its volume is in the venue's basis,
// Counts.Basis.
type Activity struct {
	VolumeUSD, VolumeShares data.Micro
	Trades                  int64 // fills behind the volume
}

// Rolling is the venue's activity in a window that ends at AsOf.
type Rolling struct {
	Activity
	Traders  int64    // distinct wallets with a fill, the venue's own left out
	Markets  int64    // distinct mapped markets with a fill
	Previous Activity // of the window of equal length before; zero for Day, which keeps none
}

// HourStats is one UTC hour.
type HourStats struct {
	Start int64 // hours since 1970
	Activity
	ActiveWallets int64
}

// DayStats is one UTC day.
type DayStats struct {
	Day int64 // days since 1970
	Activity
	ActiveWallets int64 // distinct wallets with a fill, the venue's own left out
	NewWallets    int64 // wallets whose first fill ever is in it
	NewMarkets    int64 // mapped markets whose first fill ever is in it
	ActiveMarkets int64 // distinct mapped markets with a fill
}

// SpanStats is one ISO week or calendar month.
type SpanStats struct {
	First, Last int64 // its days since 1970, both in it
	Activity
	ActiveWallets, NewWallets, NewMarkets int64
}

// Stats is the venue's activity over time. Series ascend without gaps: a bucket
// with no trade is there, with zeros.
type Stats struct {
	Traders         int64  // distinct wallets with a fill, the venue's own left out
	FirstTS, LastTS int64  // unix µs of the first and last fill; 0: none
	Sums            Totals // over all wallets, including the venue's own; what cannot be summed (markets, days) is 0
	Windows         [Periods]Rolling
	Hours           []HourStats // the last 24, up to the one AsOf lies in; none on an empty database
	Days            []DayStats  // from the first trade's to AsOf's
	Weeks, Months   []SpanStats // from the first trade's to AsOf's
}
