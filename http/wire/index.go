package wire

import (
	"time"

	"pmx/data"
)

// PMXIndex is the payload of GET /pmx-index.
type PMXIndex struct {
	SnapshotAt *time.Time    `json:"snapshot_at"` // the latest multiple of five minutes (UTC) up to as_of; null if there is none yet
	Composite  PMXComposite  `json:"composite"`   // the index over all five indices
	Indices    []PMXSubIndex `json:"indices"`     // the five indices; all of them are always listed
}

// PMXComposite is the index over all five indices.
type PMXComposite struct {
	Name               string            `json:"name"`                            // such as PMX-Volume
	Value              *data.Micro       `json:"value"`                           // value of the index; 100 is normal; null if there is none
	Change24h          *data.Micro       `json:"change_24h"`                      // change over 24 hours in points; null if either value is null
	NullReason         *string           `json:"null_reason" enum:"no_component"` // why there is no value; null if there is one
	MethodologyVersion string            `json:"methodology_version"`
	Base               string            `json:"base"`   // what a value of 100 means
	Inputs             []PMXContribution `json:"inputs"` // the five indices
}

// PMXContribution is what one of the five indices contributes to the composite.
type PMXContribution struct {
	Name   string      `json:"name"`   // name of the index
	Weight data.Micro  `json:"weight"` // share of 1, before indices without a value are left out
	Value  *data.Micro `json:"value"`  // value of the index; null if it is left out
}

// PMXSubIndex is one of the five indices.
type PMXSubIndex struct {
	Name               string      `json:"name"`                                                                // such as PMX-Volume
	Value              *data.Micro `json:"value"`                                                               // value of the index; 100 is normal; null if there is none
	Change24h          *data.Micro `json:"change_24h"`                                                          // change over 24 hours in points; null if either value is null
	NullReason         *string     `json:"null_reason" enum:"fewer_than_7_windows,empty_base,no_mapped_volume"` // why there is no value; null if there is one
	MethodologyVersion string      `json:"methodology_version"`
	Base               string      `json:"base"`   // what a value of 100 means
	Inputs             PMXInputs   `json:"inputs"` // the figures that the value is computed from
}

// PMXInputs is the figures that a value is computed from.
type PMXInputs struct {
	LastUSD data.Micro  `json:"last_24h_usd"` // USD of the last 24 hours that the index measures; for PMX-Sentiment, what takers moved towards the first outcome
	BaseUSD *data.Micro `json:"base_usd"`     // USD of the mean preceding window; for PMX-Sentiment, the whole taker volume of known markets
	Windows *int        `json:"base_windows"` // how many of the 30 preceding windows contain data; null for PMX-Sentiment
}

// PMXHistory is the response of GET /pmx-index/{name}/history.
type PMXHistory struct {
	Envelope
	AsOf               *time.Time `json:"as_of"`
	Name               string     `json:"name"`                     // name of the index in its canonical spelling
	Interval           string     `json:"interval" enum:"1h,6h,1d"` // length of the interval that a row covers
	MethodologyVersion string     `json:"methodology_version"`
	Data               []PMXBar   `json:"data"` // rows, oldest first
}

// PMXBar is how an index moved in one interval. All five values are null if it had no value in the interval.
type PMXBar struct {
	Time      time.Time   `json:"time"`       // start of the interval, UTC
	Open      *data.Micro `json:"open"`       // first value in the interval
	High      *data.Micro `json:"high"`       // highest value in the interval
	Low       *data.Micro `json:"low"`        // lowest value in the interval
	Close     *data.Micro `json:"close"`      // last value in the interval
	Value     *data.Micro `json:"value"`      // equals close
	IsPartial bool        `json:"is_partial"` // whether the interval is still in progress
}

// PMXHistories is the response of GET /pmx-index/histories.
type PMXHistories struct {
	Envelope
	AsOf               *time.Time `json:"as_of"`
	Interval           string     `json:"interval" enum:"1h,6h,1d"` // length of the interval that a point covers
	MethodologyVersion string     `json:"methodology_version"`
	Data               []PMXLine  `json:"data"` // indices, the composite first
}

// PMXLine is the history of one index.
type PMXLine struct {
	Name   string     `json:"name"`   // name of the index
	Points []PMXPoint `json:"points"` // points, oldest first
}

// PMXPoint is the last value of an index in one interval.
type PMXPoint struct {
	Time      time.Time   `json:"time"`       // start of the interval, UTC
	Value     *data.Micro `json:"value"`      // last value in the interval; null if there is none
	IsPartial bool        `json:"is_partial"` // whether the interval is still in progress
}
