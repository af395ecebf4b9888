package weather

import (
	"testing"

	"pmx/data"
)

func TestTitles(t *testing.T) {
	for text, want := range map[string]Title{
		"Highest temperature in NYC on July 2?":                 {Place: "NYC", Month: 7, Day: 2},
		"Highest temperature in London on March 1?":             {Place: "London", Month: 3, Day: 1},
		"Highest temperature in Munich on July 3?":              {Place: "Munich", Month: 7, Day: 3},
		"Highest temperature in Tokyo on March 15?":             {Place: "Tokyo", Month: 3, Day: 15},
		"Highest temperature in Milan on June 12?":              {Place: "Milan", Month: 6, Day: 12},
		"Highest temperature in Wuhan on June 12?":              {Place: "Wuhan", Month: 6, Day: 12},
		"Highest temperature in NYC on September 14?":           {Place: "NYC", Month: 9, Day: 14},
		"Lowest temperature in Hong Kong on September 5?":       {Metric: data.TMin, Place: "Hong Kong", Month: 9, Day: 5},
		"Lowest temperature in Munich on October 11?":           {Metric: data.TMin, Place: "Munich", Month: 10, Day: 11},
		"Highest temperature in Miami on September 4":           {Place: "Miami", Month: 9, Day: 4},
		"Highest temperature in Miami on Sep 27, 2026?":         {Place: "Miami", Month: 9, Day: 27, Year: 2026},
		"highest temperature in Seoul (Incheon) on sept. 3rd ?": {Place: "Seoul (Incheon)", Month: 9, Day: 3},
	} {
		if got, ok := ParseTitle(text); !ok || got != want {
			t.Errorf("%q: got %+v, ok = %v, want %+v", text, got, ok, want)
		}
	}
}

// excluded are real titles of events that are about weather, or sound like it, and are not about a
// city's day.
var excluded = []string{
	"Highest temperature in DC on Inauguration Day?", "Highest temperature in NYC on February 30?", "Highest temperature in NYC on July 32?",
	"Precipitation in NYC in June?", "Precipitation in Seoul in June?", "<75mm", "75-100mm", "Where will it rain on June 10?",
	"Will it rain in Central Park on June 9?", "January 2026 Temperature Increase (ºC)", "September 2026 Temperature Increase (C)",
	"Will global temperature increase by between 1.10ºC and 1.14ºC in November 2025?", "2026 July 1st/2nd/3rd hottest on record?",
	"Will November 2025 be the 1st hottest on record?", "Will 2026 rank as the sixth-hottest year on record or lower?",
	"Will 2026 be the fifth-hottest year on record?", "Will any month of 2026 be the hottest on record?",
	"2025 March Hottest on Record?", "Where will 2026 rank among the hottest years", "Will a hurricane form by May 31?",
	"Will a hurricane make landfall in the US by May 31?", "Will any Category 4 hurricane make landfall in the US before 2027?",
	"How strong will Nolo be?", "How many Tornadoes in the US in April?", "Min Arctic sea ice extent this summer?",
	"How many 6.5+ earthquakes Apr 20-26?", "Megaquake by June 30?", "Major solar storm by April 30?",
	"Flu Hospitalization Rate Week 15, 2026?", "Rain during the Azerbaijan Grand Prix?", "Panthers vs. Hurricanes",
	"Miami Heat vs. Boston Celtics", "Will Snowflake (SNOW) beat quarterly earnings?", "Rain in NYC in Apr 2026?",
	"Will it rain in NYC on Apr 14?", "Will the **high temp in NYC** be >90° on Aug 12, 2026?",
	"Will the highest temperature in NYC on July 2 be a record?", "NYC: Highest temperature in NYC on July 2? (part 2)",
}

func TestWhatIsNoCityDayIsNoTitle(t *testing.T) {
	for _, text := range excluded {
		if got, ok := ParseTitle(text); ok {
			t.Errorf("%q was parsed as %+v", text, got)
		}
		if _, _, ok := ParseQuestion(text); ok {
			t.Errorf("%q was parsed as a bracket's question", text)
		}
	}
}

func TestSlugs(t *testing.T) {
	for text, want := range map[string]Title{
		"highest-temperature-in-munich-on-july-3-2026":             {Place: "munich", Month: 7, Day: 3, Year: 2026},
		"highest-temperature-in-ankara-on-february-1":              {Place: "ankara", Month: 2, Day: 1},
		"highest-temperature-in-atlanta-on-december-7-994":         {Place: "atlanta", Month: 12, Day: 7, Suffix: "994"},
		"highest-temperature-in-london-on-jan-25":                  {Place: "london", Month: 1, Day: 25},
		"highest-temperature-in-nyc-on-jan-23-25":                  {Place: "nyc", Month: 1, Day: 23, Suffix: "25"},
		"highest-temperature-in-nyc-on-july-16-2026-589":           {Place: "nyc", Month: 7, Day: 16, Year: 2026, Suffix: "589"},
		"arch-highest-temperature-in-new-york-city-on-may-17-2026": {Place: "new-york-city", Month: 5, Day: 17, Year: 2026, Archived: true},
		"lowest-temperature-in-hong-kong-on-september-5-2026":      {Metric: data.TMin, Place: "hong-kong", Month: 9, Day: 5, Year: 2026},
	} {
		if got, ok := ParseSlug(text); !ok || got != want {
			t.Errorf("%q: got %+v, ok = %v, want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"highest-temperature-in-dc", "highest-temperature-in-nyc-on-march-32", "lowest-temp-in-nyc-on-may-1",
		"highest-temperature-in-munich-on-july-3-2026-17corbelow", "highest-temperature-in-rome-on-february-29-2026"} {
		if got, ok := ParseSlug(text); ok {
			t.Errorf("%q was parsed as %+v", text, got)
		}
	}
}

// TestTheYearIsThatOfTheNominalEnd: a title without a year has the year that makes it nearest to
// the nominal end; a day's difference is allowed, two are not.
func TestTheYearIsThatOfTheNominalEnd(t *testing.T) {
	for _, tc := range []struct {
		title Title
		end   string
		want  string
	}{
		{Title{Month: 7, Day: 2}, "2026-07-02", "2026-07-02"},
		{Title{Month: 1, Day: 1}, "2025-12-31", "2026-01-01"}, // Auckland's midnight is the day before in UTC
		{Title{Month: 12, Day: 31}, "2026-01-01", "2025-12-31"},
		{Title{Month: 7, Day: 2, Year: 2026}, "2026-07-02", "2026-07-02"},
		{Title{Month: 7, Day: 2, Year: 2025}, "2026-07-02", ""},
		{Title{Month: 7, Day: 2}, "2026-07-04", ""},
		{Title{Month: 2, Day: 29}, "2026-02-28", ""},
		{Title{Month: 2, Day: 29}, "2028-02-29", "2028-02-29"},
	} {
		near, err := data.ParseDate(tc.end)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := tc.title.Date(near, true)
		if ok != (tc.want != "") || ok && got.String() != tc.want {
			t.Errorf("%+v by %s: got %s, ok = %v, want %q", tc.title, tc.end, got, ok, tc.want)
		}
	}
	if got, ok := (Title{Month: 7, Day: 2, Year: 2026}).Date(0, false); !ok || got.String() != "2026-07-02" {
		t.Errorf("got %s, ok = %v", got, ok)
	}
	if _, ok := (Title{Month: 7, Day: 2}).Date(0, false); ok {
		t.Error("a day without any year was found")
	}
}

func c(lo, hi int) Bracket   { return Bracket{Lo: lo, Hi: hi, Unit: data.Celsius} }
func f(lo, hi int) Bracket   { return Bracket{Lo: lo, Hi: hi, Unit: data.Fahrenheit} }
func cLow(hi int) Bracket    { return Bracket{Hi: hi, OpenLow: true, Unit: data.Celsius} }
func fLow(hi int) Bracket    { return Bracket{Hi: hi, OpenLow: true, Unit: data.Fahrenheit} }
func cHigh(lo int) Bracket   { return Bracket{Lo: lo, OpenHigh: true, Unit: data.Celsius} }
func fHigh(lo int) Bracket   { return Bracket{Lo: lo, OpenHigh: true, Unit: data.Fahrenheit} }
func bare(b Bracket) Bracket { b.Unit = 0; return b }

func TestLabels(t *testing.T) {
	for text, want := range map[string]Bracket{
		"23°C or below": cLow(23), "24°C": c(24, 24), "33°C or higher": cHigh(33), "97°F or below": fLow(97), "98-99°F": f(98, 99),
		"100-101°F": f(100, 101), "114-115°F": f(114, 115), "116°F or higher": fHigh(116), "-3--2°C": c(-3, -2), "-10--5°F": f(-10, -5),
		"-23--22°F": f(-23, -22), "-3°C": c(-3, -3), "0°C or higher": cHigh(0), "-4°C or below": cLow(-4), "between 98-99°F": f(98, 99),
		"98–99°F": f(98, 99), "98 — 99 °F": f(98, 99), "−3°C": c(-3, -3), "−3‑−2℃": c(-3, -2), "88º to 89ºF": f(88, 89),
		"88\u00A0-\u00A089°F": f(88, 89), "24 º C": c(24, 24), "31℉": f(31, 31), "-5 to -4°C": c(-5, -4), "88°F-89°F": f(88, 89),
		"91° or above": bare(cHigh(91)), "81 or lower": bare(cLow(81)), "30°C or less": cLow(30), "30°C or under": cLow(30),
		"30°C or more": cHigh(30), "30°C or over": cHigh(30), "30°C+": cHigh(30), "≤ 30°C": cLow(30), "<=30°C": cLow(30), "<30°C": cLow(29),
		"below 30°C": cLow(29), "under 30°C": cLow(29), "≥90°F": fHigh(90), ">=90°F": fHigh(90), ">90°F": fHigh(91), "above 90°F": fHigh(91),
		"over -3°C": cHigh(-2), "<-3°C": cLow(-4),
	} {
		got, ok := ParseLabel(text)
		if !ok || got != want {
			t.Errorf("%q: got %+v, ok = %v, want %+v", text, got, ok, want)
		}
		if want.Unit != 0 {
			if again, ok := ParseLabel(got.Label()); !ok || again != got {
				t.Errorf("%q is written %q, which reads as %+v", text, got.Label(), again)
			}
		}
	}
	for _, text := range []string{"", "24", "24K", "<75mm", "75-100mm", "99-98°F", "98-98°F", "24.5°C", "24°C or so", "1234°F",
		"98°F-37°C", "1.10ºC", "Yes", "°C", "--3°C", "24°C 25°C"} {
		if got, ok := ParseLabel(text); ok {
			t.Errorf("%q was parsed as %+v", text, got)
		}
	}
}

func TestQuestions(t *testing.T) {
	for _, tc := range []struct {
		text  string
		title Title
		want  Bracket
	}{
		{"Will the highest temperature in Wuhan be 23°C or below on June 12?", Title{Place: "Wuhan", Month: 6, Day: 12}, cLow(23)},
		{"Will the highest temperature in Wuhan be 24°C on June 12?", Title{Place: "Wuhan", Month: 6, Day: 12}, c(24, 24)},
		{"Will the highest temperature in Milan be 32°C or higher on June 12?", Title{Place: "Milan", Month: 6, Day: 12}, cHigh(32)},
		{"Will the highest temperature in New York City be 97°F or below on July 2?", Title{Place: "New York City", Month: 7, Day: 2}, fLow(97)},
		{"Will the highest temperature in New York City be between 98-99°F on July 2?", Title{Place: "New York City", Month: 7, Day: 2}, f(98, 99)},
		{"Will the highest temperature in New York City be between 114-115°F on July 2?", Title{Place: "New York City", Month: 7, Day: 2}, f(114, 115)},
		{"Will the highest temperature in New York City be 50°F or higher on March 17?", Title{Place: "New York City", Month: 3, Day: 17}, fHigh(50)},
		{"Will the highest temperature in Seoul be -3°C on December 31?", Title{Place: "Seoul", Month: 12, Day: 31}, c(-3, -3)},
		{"Will the highest temperature in Seoul (Incheon) be 22°C on September 25?", Title{Place: "Seoul (Incheon)", Month: 9, Day: 25}, c(22, 22)},
		{"Will the lowest temperature in Los Angeles be between 60-61°F on September 26?", Title{Metric: data.TMin, Place: "Los Angeles", Month: 9, Day: 26}, f(60, 61)},
		{"Will the lowest temperature in Mexico City be 8°C on September 26?", Title{Metric: data.TMin, Place: "Mexico City", Month: 9, Day: 26}, c(8, 8)},
		{"Will the lowest temperature in Austin be 67°F or below on August 30?", Title{Metric: data.TMin, Place: "Austin", Month: 8, Day: 30}, fLow(67)},
		{"Will the highest temperature in London be between 54-55°F on December 7?", Title{Place: "London", Month: 12, Day: 7}, f(54, 55)},
		{"Will the highest temperature in Dubai be between 99-100°F on May 31?", Title{Place: "Dubai", Month: 5, Day: 31}, f(99, 100)},
		{"Will the highest temperature in Hong Kong be 31°C or higher on September 26?", Title{Place: "Hong Kong", Month: 9, Day: 26}, cHigh(31)},
		{"Will the highest temperature in Seoul be 0°C or higher on January 23?", Title{Place: "Seoul", Month: 1, Day: 23}, cHigh(0)},
	} {
		title, got, ok := ParseQuestion(tc.text)
		if !ok || title != tc.title || got != tc.want {
			t.Errorf("%q: title = %+v, got %+v, ok = %v", tc.text, title, got, ok)
		}
	}
}

func TestSlugEnds(t *testing.T) {
	const event = "highest-temperature-in-munich-on-july-3-2026"
	for end, want := range map[string]Bracket{
		"17corbelow": cLow(17), "23c": c(23, 23), "32corhigher": cHigh(32), "31forbelow": fLow(31), "74-75f": f(74, 75),
		"50forhigher": fHigh(50), "100-101f": f(100, 101), "neg-3c": c(-3, -3), "neg-4corbelow": cLow(-4), "neg-1-0f": f(-1, 0), "neg-5-neg-4f": f(-5, -4),
	} {
		if got, ok := ParseSlugBracket(event+"-"+end, event); !ok || got != want {
			t.Errorf("%s: got %+v, ok = %v", end, got, ok)
		}
	}
	for _, slug := range []string{event, event + "-", event + "-17k", event + "-99-98f", "other-17c", event + "-17-18corbelow"} {
		if got, ok := ParseSlugBracket(slug, event); ok {
			t.Errorf("%s was parsed as %+v", slug, got)
		}
	}
}

// FuzzLabel: no text makes the grammar panic, and a bracket that it reads is valid.
func FuzzLabel(f *testing.F) {
	f.Add("-3--2°C", "Will the lowest temperature in Austin be 67°F or below on August 30?", "lowest-temperature-in-austin-on-august-30")
	f.Fuzz(func(t *testing.T, label, question, slug string) {
		if b, ok := ParseLabel(label); ok && !b.OpenLow && !b.OpenHigh && b.Lo > b.Hi {
			t.Errorf("%q: got %+v", label, b)
		}
		_, _, _ = ParseQuestion(question)
		_, _ = ParseSlug(slug)
		_, _ = ParseTitle(question)
		_, _ = ParseSlugBracket(slug, label)
	})
}
