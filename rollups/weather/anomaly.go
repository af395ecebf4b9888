package weather

import "pmx/data"

// Normal is one source's normal of a calendar day.
type Normal struct {
	Value     data.Temp
	Deviation *data.Temp // standard deviation, a difference; nil if not given
	P10, P90  *data.Temp // nil if not given
}

// Class says how a value compares with the normal ones.
type Class string

// The classes.
const (
	ClassBelow  Class = "below"  // below the tenth percentile
	ClassNormal Class = "normal" // between the tenth and the ninetieth, inclusive
	ClassAbove  Class = "above"  // above the ninetieth
)

// Anomaly is how far a value is from normal.
type Anomaly struct {
	Difference data.Temp   // value − normal: converted by the size of a degree alone
	Z          *data.Micro // in standard deviations; nil if these are not known, or 0
	Class      *Class      // nil if the percentiles are not known
}

// AnomalyOf returns the anomaly of a value; nil if there is no normal. Value and normal should be
// of the same kind: a grid cell differs from a station in it by more than most days differ from
// normal.
func AnomalyOf(value data.Temp, n *Normal) *Anomaly {
	if n == nil {
		return nil
	}
	a := &Anomaly{Difference: value - n.Value}
	if n.Deviation != nil {
		if z, ok := data.Ratio(data.Micro(a.Difference), data.Micro(*n.Deviation)); ok {
			a.Z = &z
		}
	}
	if n.P10 != nil && n.P90 != nil {
		class := ClassNormal
		switch {
		case value < *n.P10:
			class = ClassBelow
		case value > *n.P90:
			class = ClassAbove
		}
		a.Class = &class
	}
	return a
}
