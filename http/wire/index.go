package wire

import (
	"time"

	"pmx/data"
)

// PMXIndex is the payload of GET /pmx-index.
type PMXIndex struct {
	SnapshotAt *time.Time    `json:"snapshot_at"` // the last full five minutes up to as_of; null before the first
	Composite  PMXComposite  `json:"composite"`   // the index over all five
	Indices    []PMXSubIndex `json:"indices"`     // the five, always all of them
}

// PMXComposite is the index over all five.
type PMXComposite struct {
	Name               string      `json:"name"`                            // such as PMX-Volume
	Value              *data.Micro `json:"value"`                           // 100 is as usual; null where there is none
	Change24h          *data.Micro `json:"change_24h"`                      // in points; null where either value is
	NullReason         *string     `json:"null_reason" enum:"no_component"` // why there is no value; null where there is one
	MethodologyVersion string      `json:"methodology_version"`
	Base               string      `json:"base"`   // what 100 means
	Inputs             []PMXPart   `json:"inputs"` // the five
}

// PMXPart is what one of the five adds to the composite.
type PMXPart struct {
	Name   string      `json:"name"`   // of the index
	Weight data.Micro  `json:"weight"` // of 1, before those without a value are left out
	Value  *data.Micro `json:"value"`  // null: left out
}

// PMXSubIndex is one of the five.
type PMXSubIndex struct {
	Name               string      `json:"name"`                                                                // such as PMX-Volume
	Value              *data.Micro `json:"value"`                                                               // 100 is as usual; null where there is none
	Change24h          *data.Micro `json:"change_24h"`                                                          // in points; null where either value is
	NullReason         *string     `json:"null_reason" enum:"fewer_than_7_windows,empty_base,no_mapped_volume"` // why there is no value; null where there is one
	MethodologyVersion string      `json:"methodology_version"`
	Base               string      `json:"base"`   // what 100 means
	Inputs             PMXInputs   `json:"inputs"` // what the value follows from
}

// PMXInputs is what a value follows from.
type PMXInputs struct {
	LastUSD data.Micro  `json:"last_24h_usd"` // of PMX-Sentiment: what takers moved towards the first outcome
	BaseUSD *data.Micro `json:"base_usd"`     // the mean window before; of PMX-Sentiment: all taker volume of known markets
	Windows *int        `json:"base_windows"` // how many of the 30 windows before hold data; null of PMX-Sentiment
}

// PMXHistory is the reply of GET /pmx-index/{name}/history.
type PMXHistory struct {
	Envelope
	AsOf               *time.Time `json:"as_of"`
	Name               string     `json:"name"`                     // of the index, as it is spelled
	Interval           string     `json:"interval" enum:"1h,6h,1d"` // length of a row
	MethodologyVersion string     `json:"methodology_version"`
	Data               []PMXBar   `json:"data"` // oldest first
}

// PMXBar is how an index moved in one interval. All five values are null where it
// had none.
type PMXBar struct {
	Time      time.Time   `json:"time"`       // where the interval begins, UTC
	Open      *data.Micro `json:"open"`       // first value of the interval
	High      *data.Micro `json:"high"`       // highest value
	Low       *data.Micro `json:"low"`        // lowest value
	Close     *data.Micro `json:"close"`      // last value
	Value     *data.Micro `json:"value"`      // equals close
	IsPartial bool        `json:"is_partial"` // the interval is not over
}
