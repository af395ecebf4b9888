package wire

import (
	"time"

	"pmx/data"
)

// StatusHistory is the response of GET /status/history.
type StatusHistory struct {
	Envelope
	AsOf          *time.Time     `json:"as_of"`
	SampleSeconds int64          `json:"sample_seconds"` // number of seconds that one sample covers
	Days          int            `json:"days"`           // number of days of each subsystem and source
	Events        []StatusEvent  `json:"events"`         // what happened, newest first
	Data          []GradeHistory `json:"data"`
}

// GradeHistory is the grades of a subsystem or a source, day by day.
type GradeHistory struct {
	Part       string      `json:"part"`        // serving_tables, trades, markets, or `source:` and the name of a source that is followed
	CurrentPct *data.Micro `json:"current_pct"` // percentage of the sampled seconds with the grade A or B; null if nothing was sampled
	Days       []StatusDay `json:"days"`        // UTC days, oldest first
}

// StatusDay is one UTC day of a subsystem or a source.
type StatusDay struct {
	Date          string        `json:"date"`
	Worst         *string       `json:"worst" enum:"A,B,C,D,F"` // worst grade of the day; null if nothing was sampled
	Seconds       StatusSeconds `json:"seconds"`                // how long each grade was sampled
	LagMaxSeconds *int64        `json:"lag_max_seconds"`        // greatest lag that was sampled; null if there was none
}

// StatusSeconds tells how long each grade was sampled on a day.
type StatusSeconds struct {
	A    int64 `json:"A"`    // seconds with the grade A
	B    int64 `json:"B"`    // seconds with the grade B
	C    int64 `json:"C"`    // seconds with the grade C
	D    int64 `json:"D"`    // seconds with the grade D
	F    int64 `json:"F"`    // seconds with the grade F
	None int64 `json:"none"` // seconds of the day so far that no sample covers
}

// StatusEvent is something that happened to the service.
type StatusEvent struct {
	At    time.Time  `json:"at"`                                                 // when it began
	Until *time.Time `json:"until"`                                              // when it ended; null if it has not ended or took no time
	Part  *string    `json:"part"`                                               // the part that had the grade, as in `data`; null for other kinds
	Kind  string     `json:"kind" enum:"grade,import,refresh,verify,start,stop"` // grade: the part had the grade C or worse; refresh: refreshes failed
	Grade *string    `json:"grade" enum:"C,D,F"`                                 // worst grade in that time; null for other kinds
	Text  string     `json:"text"`                                               // what happened, in words
}
