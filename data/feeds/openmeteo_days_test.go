package feeds_test

import (
	"strings"
	"testing"
)

// TestWhoseDaysTheyAre: days are given as dates or as the seconds at which they begin. Where they
// begin follows from the response's offset, else from its zone. Without either, it is unknown.
func TestWhoseDaysTheyAre(t *testing.T) {
	const place, begin = `"latitude":40.76809,"longitude":-73.862785`, "1783051200" // 2026-07-03T04:00Z, New York's midnight
	daily := func(zone, day string) string {
		return `{"_meta":{"kind":"forecast","city":"nyc","fetched_at":"2026-07-02T13:00:00Z"},"response":{` + place + zone +
			`,"daily_units":{"temperature_2m_max":"°F"},"daily":{"time":[` + day + `],"temperature_2m_max":[99.3]}}}` + "\n"
	}
	const row = "nyc 2026-07-03 tmax best_match issued 2026-07-02T13:00: 99.3"
	for name, tc := range map[string]struct{ zone, day, want string }{
		"seconds":               {`,"utc_offset_seconds":-14400`, begin, row},
		"the city's zone":       {`,"timezone":"America/New_York"`, `"2026-07-03"`, row},
		"a zone within an hour": {`,"timezone":"America/Halifax"`, `"2026-07-03"`, row + " shift -3600"},
		"a zone elsewhere":      {`,"timezone":"Europe/London"`, `"2026-07-03"`, "reject 1 wrong_days"},
		"no such zone":          {`,"timezone":"Moon/Tranquility"`, `"2026-07-03"`, "reject 1 no_zone"},
		"no zone":               {``, `"2026-07-03"`, "reject 1 no_zone"},
		"seconds and no offset": {`,"timezone":"America/New_York"`, begin, "reject 1 no_zone"},
		"a day that is none":    {`,"utc_offset_seconds":-14400`, `"2026-02-30"`, "reject 1 bad_date"},
	} {
		t.Run(name, func(t *testing.T) { says(t, "", "x.ndjson", daily(tc.zone, tc.day), tc.want) })
	}
}

// TestDaysOfHours: a day with a missing hour is left out, and hours without an offset belong to no
// day.
func TestDaysOfHours(t *testing.T) {
	var times []string
	for _, h := range strings.Fields("00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23") {
		times = append(times, `"2026-07-03T`+h+`:00"`)
	}
	hours := func(zone, at string, values ...string) string {
		return `{"_meta":{"kind":"forecast","city":"nyc","fetched_at":"2026-07-02T13:00:00Z"},"response":{"latitude":40.76809,"longitude":-73.862785` + zone +
			`,"hourly_units":{"temperature_2m":"°F"},"hourly":{"time":[` + at + `],"temperature_2m":[` + strings.Join(values, ",") + `]}}}` + "\n"
	}
	full := strings.Split(strings.Repeat("70 ", 23)+"81", " ")
	gap := append(append([]string{}, full[:12]...), append([]string{"null"}, full[13:]...)...)
	all := strings.Join(times, ",")
	const offset = `,"utc_offset_seconds":-14400`
	says(t, "", "full.ndjson", hours(offset, all, full...), "nyc 2026-07-03 tmax best_match issued 2026-07-02T13:00: 81.0\nnyc 2026-07-03 tmin best_match issued 2026-07-02T13:00: 70.0")
	says(t, "", "gap.ndjson", hours(offset, all, gap...), "")
	says(t, "", "short.ndjson", hours(offset, strings.Join(times[:23], ","), full[1:]...), "")
	says(t, "", "one.ndjson", hours(offset, times[0], "70"), "")
	says(t, "", "zone.ndjson", hours(`,"timezone":"America/New_York"`, all, full...), "reject 1 no_zone")
	says(t, "", "hot.ndjson", hours(offset, all, append([]string{`"hot"`}, full[1:]...)...), "reject 1 bad_temperature")
	says(t, "", "soon.ndjson", hours(offset, `"soon",`+strings.Join(times[1:], ","), full...), "reject 1 bad_time")
}

// TestWhatAnAnswerIsOf: the service is known from the note, else from the names of the values. A
// response without either is rejected, and so is a list without responses.
func TestWhatAnAnswerIsOf(t *testing.T) {
	answer := func(meta, key string) string {
		return `{"_meta":{"city":"nyc","fetched_at":"2026-07-10T13:00:00Z"` + meta + `},"response":{` + nycAt + `,"daily_units":{"` + key +
			`":"°F"},"daily":{"time":["2026-07-03"],"` + key + `":[99.3]}}}` + "\n"
	}
	says(t, "", "nothing.ndjson", answer("", "temperature_2m_max"), "reject 1 unknown_kind")
	says(t, "", "other.ndjson", answer(`,"kind":"marine"`, "temperature_2m_max"), "reject 1 unknown_kind")
	says(t, "", "era5.ndjson", answer("", "temperature_2m_max_era5"), "nyc 2026-07-03 tmax reanalysis era5 seen 2026-07-10T13:00: 99.3 provisional")
	// New York's 3 July ends at 04:00Z of the next: its last hour, a day before.
	says(t, "", "before.ndjson", answer("", "temperature_2m_max_previous_day1"), "nyc 2026-07-03 tmax previous:best_match issued 2026-07-03T03:00: 99.3")
	says(t, "", "run.ndjson", answer(`,"kind":"forecast","run":"soon"`, "temperature_2m_max"), "reject 1 bad_time")
	says(t, "openmeteo", "list.ndjson", `{"_meta":{"kind":"forecast","city":"nyc","fetched_at":"2026-07-02T13:00:00Z"},"response":[17,{"error":true,"reason":"no"}]}`+"\n"+
		`{"latitude":40.7,"longitude":-73.8,"daily":{},"daily_units":{}}`+"\n", "reject 1 bad_json\nreject 1 source_error\nreject 2 unknown_kind")
}
