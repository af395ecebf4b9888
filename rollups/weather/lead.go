package weather

import (
	"time"

	"pmx/data"
)

// Lead is how far ahead of a city's local day a forecast was given.
type Lead struct {
	// Days is the day minus the city's local date when the forecast was given: 0 on the day itself,
	// negative once the day is over.
	Days    int
	ToStart time.Duration // until the local day begins; negative once it has begun
	ToEnd   time.Duration // until it ends, after which nothing can be measured any more
}

// LeadOf returns the lead of a forecast that was given at issuedAt, unix µs. The days are of the
// city's own calendar: 23 or 25 hours long when clocks change.
func LeadOf(c data.City, day data.Date, issuedAt int64) Lead {
	at := time.UnixMicro(issuedAt)
	start, end := c.Day(day)
	return Lead{Days: int(day - c.DateOf(at)), ToStart: start.Sub(at), ToEnd: end.Sub(at)}
}

// Hours returns d in hours, rounded half away from zero to a millionth.
func Hours(d time.Duration) data.Micro {
	return data.MulDiv(data.Micro(d), data.One, data.Micro(time.Hour))
}

// Noon is twelve o'clock on the city's clock.
func Noon(c data.City, day data.Date) time.Time {
	start, _ := c.Day(day)
	y, m, d := day.Time().Date()
	return time.Date(y, m, d, 12, 0, 0, 0, start.Location())
}

// ScoredLead returns the lead day that a forecast may be scored at; false for one that is not
// scored: given after the day, or on the day from local noon on. A forecast made in the afternoon
// has seen most of its day, and if it were scored together with those of the morning, a source
// would look better the later it is fetched. (The low of a day mostly occurs by dawn: skill for
// lows shows from the day before on.)
func ScoredLead(c data.City, day data.Date, issuedAt int64) (lead int, ok bool) {
	at := time.UnixMicro(issuedAt)
	lead = int(day - c.DateOf(at))
	return lead, lead > 0 || lead == 0 && at.Before(Noon(c, day))
}

// ScoreKey names the one forecast that a source is scored by.
type ScoreKey struct {
	City   string // slug
	Source string
	Metric data.Metric
	Day    data.Date // the city's local day that is forecast
	Lead   int       // in days
}

// Scored returns the forecasts that sources are scored by: for each source, day and lead day the
// newest. Sources are fetched at all hours: counting every answer would weigh sources and days by
// how often they were fetched.
func Scored(cities *data.Gazetteer, all []data.Forecast) map[ScoreKey]data.Forecast {
	out := map[ScoreKey]data.Forecast{}
	for _, f := range all {
		c, ok := cities.City(f.City)
		if !ok {
			continue
		}
		lead, ok := ScoredLead(c, f.Target, f.IssuedAt)
		if !ok {
			continue
		}
		key := ScoreKey{City: f.City, Source: f.Source, Metric: f.Metric, Day: f.Target, Lead: lead}
		if old, taken := out[key]; !taken || f.IssuedAt > old.IssuedAt {
			out[key] = f
		}
	}
	return out
}
