package data

import (
	"cmp"
	"slices"
	"time"
)

// Forecast is what one source said at one time about one extreme of a city's local day. Every value
// that a source ever gave is a Forecast; the points at which it changed follow from them.
type Forecast struct {
	City   string // slug
	Target Date   // the city's local day
	Metric Metric
	Source string // the model or office: "gfs_seamless", "nws"
	// IssuedAt is when the value was published, or fetched if only that is known, in unix µs.
	IssuedAt int64
	RunAt    int64 // when the model run began, unix µs; 0 where the source does not say
	Value    Temp  // for an ensemble: the mean of its members, to a hundredth of a degree
	Members  []Temp
	// Shift is by how many seconds the source's day begins after the city's: sources with a fixed
	// offset from UTC are an hour off after a change of clocks.
	Shift int32
}

// ActualKind is how a day's extreme was determined.
type ActualKind int8

// The kinds that are imported. The bracket that won, a third kind, follows from markets and is
// never imported.
const (
	KindStation    ActualKind = 1 // measured at a station
	KindReanalysis ActualKind = 2 // computed on a grid from surrounding measurements
)

// String returns "station" or "reanalysis".
func (k ActualKind) String() string {
	if k == KindReanalysis {
		return "reanalysis"
	}
	return "station"
}

// Actual is a source's value of one extreme of a city's past day.
type Actual struct {
	City    string // slug
	Day     Date   // the city's local day
	Metric  Metric
	Kind    ActualKind
	Source  string // "ghcn", "iem", "hko", "archive_best_match"
	Station string // id; "" for a grid
	SeenAt  int64  // when the source reported it, unix µs; 0 if the file does not say
	Value   Temp
	// Withdrawn says that the source has no good value: it marks the value as failed, or withdraws
	// an earlier one. Then there is no Value.
	Withdrawn bool
	// Provisional says that the source may still change it; nil: the source does not say.
	Provisional *bool
	Shift       int32 // as a Forecast's
}

// Report is which kind of report an observation is.
type Report int8

// The kinds of reports.
const (
	ReportUnknown Report = 0
	ReportRoutine Report = 1 // METAR
	ReportSpecial Report = 2 // SPECI: between the hours, when something changed
)

// Observation is one temperature a station reported.
type Observation struct {
	City    string // slug
	Station string // id
	Source  string // "metar", "nws", "iem"
	TS      int64  // of the measurement, unix µs
	Report  Report
	Value   Temp  // as precise as in the report
	Whole   *Temp // the report's group of whole degrees Celsius; nil if only one value is given
	SeenAt  int64 // when the source reported it, unix µs; 0 if it does not say
	// Correction is the number of the correction of its report; 0 is the report itself.
	Correction int8
	Withdrawn  bool // as an Actual's
}

// Normal is the usual value of a calendar day.
type Normal struct {
	City      string // slug
	Station   string // id; "" for a grid
	Source    string // "ncei", "iem"
	Period    string // "1991-2020"
	MonthDay  int    // month × 100 + day; 229 counts as a separate day
	Metric    Metric
	Value     Temp
	Deviation *Temp // standard deviation, a difference; nil if not given
	P10, P90  *Temp // nil if not given
	Years     int32 // how many years it is computed from; 0 if not given
}

// NewForecast returns f with the members of an ensemble: Members in order from the coldest, and
// Value their mean, rounded half away from zero to a hundredth of a degree of u. It keeps and sorts
// members.
func NewForecast(f Forecast, members []Temp, u Unit) Forecast {
	slices.SortFunc(members, cmp.Compare[Temp])
	sum := Micro(0)
	for _, m := range members {
		sum += Micro(int64(m) - u.zero())
	}
	step := Micro(u.Degree()) / 100
	f.Value = Temp(int64(MulDiv(sum, 1, Micro(len(members))*step)*step) + u.zero())
	f.Members = members
	return f
}

// ParseDifference reads a difference between two temperatures in degrees of u, as
// ParseTemp reads a temperature.
func ParseDifference(s string, u Unit) (Temp, error) {
	t, err := ParseTemp(s, u)
	return t - Degrees(0, u), err
}

// MonthDayOf checks a month and a day; false if no year has that day.
func MonthDayOf(month, day int) (int, bool) {
	if month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, false
	}
	md := month*100 + day
	return md, DateFrom(2000, time.Month(month), day).MonthDay() == md
}
