package weather

import (
	"slices"
	"time"

	"pmx/data"
)

// Usual is the derived normal of a calendar day.
type Usual struct {
	Value     data.Temp // mean, rounded half away from zero
	Deviation data.Temp // standard deviation of the sample
	P10, P90  data.Temp // nearest rank: the least value that a tenth, nine tenths, do not exceed
	Years     int       // years that have any value near the day
}

// The period and method of derived normals. 24 of 30 years is what the WMO requires (WMO-No. 1203,
// 80 per cent); 15 days on either side smooth the noise of 30 values.
const (
	FirstYear   = 1991
	LastYear    = 2020
	halfWindow  = 15
	fewestYears = 24
	leapDay     = 229
)

// Climate derives the normals of 1991 to 2020 from a series of daily values, by month × 100 + day:
// for every year the values within 15 days of the calendar day, across the turn of the year if the
// series reaches that far. A day without values in 24 of the years has no normal. 29 February is
// halfway between 28 February and 1 March. The view weather_derived does the same in SQL.
func Climate(series map[data.Date]data.Temp) map[int]Usual {
	first, last := data.DateFrom(FirstYear, time.January, 1), data.DateFrom(LastYear, time.December, 31)
	out := map[int]Usual{}
	for d := data.DateFrom(2001, time.January, 1); d <= data.DateFrom(2001, time.December, 31); d++ {
		_, month, day := d.Time().Date()
		var near []data.Temp
		years := 0
		for y := FirstYear; y <= LastYear; y++ {
			centre, before := data.DateFrom(y, month, day), len(near)
			for x := max(centre-halfWindow, first); x <= min(centre+halfWindow, last); x++ {
				if v, ok := series[x]; ok {
					near = append(near, v)
				}
			}
			if len(near) > before {
				years++
			}
		}
		if years >= fewestYears {
			out[d.MonthDay()] = usual(near, years)
		}
	}
	a, okA := out[leapDay-1]
	b, okB := out[301]
	if okA && okB {
		out[leapDay] = Usual{(a.Value + b.Value) / 2, (a.Deviation + b.Deviation) / 2, (a.P10 + b.P10) / 2, (a.P90 + b.P90) / 2,
			min(a.Years, b.Years)}
	}
	return out
}

func usual(values []data.Temp, years int) Usual {
	slices.Sort(values)
	n := int64(len(values))
	mean, deviation := moments(values)
	u := Usual{Value: mean, Years: years,
		P10: values[(n+9)/10-1], P90: values[(9*n+9)/10-1]}
	if deviation != nil {
		u.Deviation = *deviation
	}
	return u
}
