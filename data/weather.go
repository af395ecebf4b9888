package data

import (
	"cmp"
	"slices"
	"time"
)

// Forecast is what one source said, at one time, of one extreme of a city's local
// day. Every value a source ever gave is a Forecast; the points at which it changed
// its mind follow from them.
type Forecast struct {
	City   string // slug
	Target Date   // the city's local day
	Metric Metric
	Source string // the model or office: "gfs_seamless", "nws"
	// IssuedAt is when the value was published, or fetched where only that is
	// known: unix µs.
	IssuedAt int64
	RunAt    int64 // when the model run began, unix µs; 0 where the source does not say
	Value    Temp  // of an ensemble: the mean of its members, to a hundredth of a degree
	Members  []Temp
	// Shift is by how many seconds the day that the source cut begins after the
	// city's: sources that keep one offset from UTC are an hour off beyond a change
	// of clocks.
	Shift int32
}

// ActualKind is how a day's extreme came to be known.
type ActualKind int8

// The kinds of what is imported. The bracket that won, a third kind, follows from
// markets and is never imported.
const (
	KindStation    ActualKind = 1 // measured at a station
	KindReanalysis ActualKind = 2 // computed on a grid from what was measured round about
)

// String returns "station" or "reanalysis".
func (k ActualKind) String() string {
	if k == KindReanalysis {
		return "reanalysis"
	}
	return "station"
}

// Actual is what a source said of one extreme of a city's past day.
type Actual struct {
	City    string // slug
	Day     Date   // the city's local day
	Metric  Metric
	Kind    ActualKind
	Source  string // "ghcn", "iem", "hko", "archive_best_match"
	Station string // id; "" for a grid
	SeenAt  int64  // when the source said so, unix µs; 0 where the file does not tell
	Value   Temp
	// Withdrawn tells that the source has no good value: it marks the one it gives as
	// failed, or takes back what it gave. There is no Value then.
	Withdrawn bool
	// Provisional tells that the source may still change it; nil: it does not say.
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
	Value   Temp  // as fine as the report has it
	Whole   *Temp // the report's group of whole degrees Celsius; nil where only one value is given
	SeenAt  int64 // when the source gave it, unix µs; 0 where it does not say
	// Correction tells which correction of its report it is; 0 is the report itself.
	Correction int8
	Withdrawn  bool // as an Actual's
}

// Normal is the usual value of a calendar day.
type Normal struct {
	City      string // slug
	Station   string // id; "" for a grid
	Source    string // "ncei", "iem"
	Period    string // "1991-2020"
	MonthDay  int    // month × 100 + day; 229 is a day of its own
	Metric    Metric
	Value     Temp
	Deviation *Temp // standard deviation, a difference; nil where it is not given
	P10, P90  *Temp // nil where they are not given
	Years     int32 // how many years it is made of; 0 where it is not given
}

// NewForecast gives f with the members of an ensemble: Members in order from the
// coldest, and Value their mean, rounded half away from zero to a hundredth of a
// degree of u. It takes members over.
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

// MonthDayOf checks a month and a day of some year; false if no year has it.
func MonthDayOf(month, day int) (int, bool) {
	if month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, false
	}
	md := month*100 + day
	return md, DateFrom(2000, time.Month(month), day).MonthDay() == md
}
