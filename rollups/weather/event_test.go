package weather

import (
	"errors"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/reference"
)

// munich is a listing in Gamma's format: brackets out of order, no year in the title.
func munich() Listing {
	l := Listing{ID: "593023", Title: "Highest temperature in Munich on July 3?", Slug: "highest-temperature-in-munich-on-july-3-2026",
		Series: "munich-daily-weather", Tags: []string{"weather", "munich", "highest-temperature"},
		Resolution: "https://www.wunderground.com/history/daily/de/munich/EDDM",
		End:        time.Date(2026, 7, 3, 12, 0, 0, 0, time.UTC), GameStart: time.Date(2026, 7, 2, 22, 0, 0, 0, time.UTC)}
	for _, label := range []string{"24°C", "27°C or higher", "23°C or below", "26°C", "25°C"} {
		l.Markets = append(l.Markets, Outcome{Label: label, Question: "Will the highest temperature in Munich be " + label + " on July 3?"})
	}
	return l
}

func TestAListingBecomesACitysDay(t *testing.T) {
	e, err := Parse(reference.Gazetteer(), munich())
	if err != nil {
		t.Fatal(err)
	}
	if e.City.Slug != "munich" || e.Metric != data.TMax || e.Day.String() != "2026-07-03" || e.Archived {
		t.Errorf("e = %+v", e)
	}
	if want := (Rules{Unit: data.Celsius, Station: "EDDM", Source: Wunderground, Stated: true}); e.Rules != want {
		t.Errorf("rules %+v", e.Rules)
	}
	if e.Brackets[e.Ladder[0]].Label() != "23°C or below" || e.Brackets[e.Ladder[4]].Label() != "27°C or higher" {
		t.Errorf("ladder %v of %+v", e.Ladder, e.Brackets)
	}
	v, _ := data.ParseTemp("25.5", data.Celsius)
	if at := e.Settles(v); e.Brackets[at].Label() != "26°C" {
		t.Errorf("25.5 °C settles as %s", e.Brackets[at].Label())
	}
}

func TestAListingOffTheDeskSaysWhy(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Listing)
		want   error
	}{
		"no tag and no series": {func(l *Listing) { l.Tags, l.Series = []string{"weather"}, "" }, ErrTag},
		"another title":        {func(l *Listing) { l.Title = "Precipitation in Munich in July?" }, ErrTitle},
		"another venue": {func(l *Listing) {
			l.Title, l.Series, l.Tags = "Highest temperature in Miami on Sep 27, 2026?", "KXHIGHMIA", nil
		}, ErrTag},
		"an unknown city":        {func(l *Listing) { l.Title = "Highest temperature in Auckland on July 3?" }, ErrCity},
		"no day":                 {func(l *Listing) { l.Title = "Highest temperature in DC on Inauguration Day?" }, ErrTitle},
		"the end weeks away":     {func(l *Listing) { l.End = time.Date(2026, 7, 20, 12, 0, 0, 0, time.UTC) }, ErrDay},
		"a slug of another day":  {func(l *Listing) { l.Slug = "highest-temperature-in-munich-on-july-4-2026" }, ErrDay},
		"a slug of another city": {func(l *Listing) { l.Slug = "highest-temperature-in-milan-on-july-3-2026" }, ErrDay},
		"a slug of the low":      {func(l *Listing) { l.Slug = "lowest-temperature-in-munich-on-july-3-2026" }, ErrDay},
		"an odd bracket":         {func(l *Listing) { l.Markets[1] = Outcome{Label: "hot"} }, ErrLabel},
		"a question of another city": {func(l *Listing) {
			l.Markets[0].Question = "Will the highest temperature in Milan be 24°C on July 3?"
		}, ErrLabel},
		"a question of another bracket": {func(l *Listing) {
			l.Markets[0].Question = "Will the highest temperature in Munich be 25°C on July 3?"
		}, ErrLabel},
	} {
		l := munich()
		tc.change(&l)
		if e, err := Parse(reference.Gazetteer(), l); !errors.Is(err, tc.want) {
			t.Errorf("%s: err = %v, e = %+v", name, err, e)
		}
	}
	l := munich()
	l.Markets = l.Markets[:4]
	var bad *LadderError
	if _, err := Parse(reference.Gazetteer(), l); !errors.As(err, &bad) {
		t.Errorf("a ladder with a gap: %v", err)
	}
}

// TestNothingOfTheExclusionListGetsIn, whatever tags and series it has.
func TestNothingOfTheExclusionListGetsIn(t *testing.T) {
	for _, title := range excluded {
		l := munich()
		l.Title, l.Slug = title, "x"
		if e, err := Parse(reference.Gazetteer(), l); err == nil {
			t.Errorf("%q is on the desk as %s %s", title, e.City.Slug, e.Day)
		}
	}
}

// TestTwoEventsOfOneCityDayAreToldApart: one was discarded and created again.
func TestTwoEventsOfOneCityDayAreToldApart(t *testing.T) {
	old, fresh := munich(), munich()
	old.Slug, old.ID = "arch-"+old.Slug, "590000"
	a, errA := Parse(reference.Gazetteer(), old)
	b, errB := Parse(reference.Gazetteer(), fresh)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if !a.Archived || b.Archived || a.Day != b.Day || a.City.Slug != b.City.Slug || a.ID == b.ID {
		t.Errorf("%+v\n%+v", a, b)
	}
	claims := []Claim{{Archived: true, Volume: 900, ID: a.ID}, {Volume: 5, ID: b.ID}}
	if Canonical(claims) != 1 {
		t.Error("the event that was put aside counts for the day")
	}
	if Canonical([]Claim{{Volume: 1, ID: "7"}, {Volume: 2, ID: "8"}}) != 1 || Canonical([]Claim{{ID: "10"}, {ID: "9"}}) != 1 || Canonical(nil) != -1 {
		t.Error("volume, then the older id")
	}
}

// TestBracketsAreReadOffQuestionsAndSlugsToo if a label is missing.
func TestBracketsAreReadOffQuestionsAndSlugsToo(t *testing.T) {
	l := munich()
	l.Markets[0].Label = ""
	l.Markets[1] = Outcome{Slug: l.Slug + "-27corhigher"}
	e, err := Parse(reference.Gazetteer(), l)
	if err != nil || e.Brackets[0].Label() != "24°C" || e.Brackets[1].Label() != "27°C or higher" {
		t.Errorf("err = %v, e.Brackets = %+v", err, e.Brackets)
	}
}

// TestTheScaleIsTheEventsOwn: London's events were in °F until 10 December 2025.
func TestTheScaleIsTheEventsOwn(t *testing.T) {
	l := Listing{Title: "Highest temperature in London on December 7?", Slug: "highest-temperature-in-london-on-december-7-994",
		Tags: []string{"highest-temperature"}, End: time.Date(2025, 12, 7, 12, 0, 0, 0, time.UTC)}
	for _, label := range []string{"53°F or below", "54-55°F", "56-57°F", "58°F or higher"} {
		l.Markets = append(l.Markets, Outcome{Label: label})
	}
	e, err := Parse(reference.Gazetteer(), l)
	if err != nil || e.Rules.Unit != data.Fahrenheit || e.Day.String() != "2025-12-07" {
		t.Errorf("err = %v, e = %+v", err, e)
	}
}

func TestForgottenEventsAreNotOpen(t *testing.T) {
	if !Open(10, 10, true, false) || !Open(11, 10, true, false) || Open(9, 10, true, false) || Open(10, 10, true, true) || Open(10, 10, false, false) {
		t.Error("open means active, not closed and not past")
	}
}
