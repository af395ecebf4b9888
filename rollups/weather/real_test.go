package weather

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/reference"

	"pmx/data/testfiles"
)

// shared returns a path of the captured files, and skips the test if they are missing.
func shared(t *testing.T, names ...string) string {
	t.Helper()
	return filepath.Join(append([]string{testfiles.Captured(t, "C_weather_markets")}, names...)...)
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.HasPrefix(b, []byte{0x1F, 0x8B}) {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if b, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// TestCaptured reads complete captured files, if they are next to the checkout. The tests of
// ladders, events, titles and evolutions test the same rules with lists made by hand.
func TestCaptured(t *testing.T) {
	testfiles.Captured(t)
	t.Run("ladders", everyResolvedLadder)
	t.Run("events", everyEventOfTheSeminar)
	t.Run("examples", everyExampleOfTheNotes)
	t.Run("evolutions", theRecordedEvolutions)
}

// everyResolvedLadder: all 423 are parsed, have no gap and no overlap, and have their winner among
// their brackets.
func everyResolvedLadder(t *testing.T) {
	rows, err := csv.NewReader(bytes.NewReader(content(t, shared(t, "derived", "resolved_brackets_4cities.csv")))).ReadAll()
	if err != nil || len(rows) != 424 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows[1:] {
		day := on(t, r[1])
		l := Listing{Title: r[4], Slug: r[3], Series: "x-daily-weather", End: day.Time().Add(12 * time.Hour)}
		for _, label := range strings.Split(r[6], "|") {
			l.Markets = append(l.Markets, Outcome{Label: label})
		}
		e, err := Parse(reference.Gazetteer(), l)
		if err != nil {
			t.Errorf("%s: %v", r[3], err)
			continue
		}
		winner, ok := ParseLabel(r[7])
		if !ok || !slices.Contains(e.Brackets, winner) || e.Day != day || e.Rules.Unit.String() != r[2] {
			t.Errorf("%s: winner %q, day %s, unit %s", r[3], r[7], e.Day, e.Rules.Unit)
		}
		if named, _ := reference.Gazetteer().Named(r[0]); named.Slug != e.City.Slug {
			t.Errorf("%s is of %s", r[3], e.City.Slug)
		}
	}
}

// everyEventOfTheSeminar: 218 events, each with one winner, which is the bracket that its label
// names.
func everyEventOfTheSeminar(t *testing.T) {
	events := 0
	for _, file := range []string{"polymarket_london_history.json.gz", "polymarket_nyc_history.json.gz"} {
		var doc struct {
			Markets []struct {
				Slug, Title, EndDate string
				Unit                 string `json:"temperature_unit"`
				Buckets              []struct {
					Bucket string
					Won    bool `json:"resolved_yes"`
				}
			}
		}
		if err := json.Unmarshal(content(t, shared(t, "seminar4", file)), &doc); err != nil {
			t.Fatal(err)
		}
		for _, m := range doc.Markets {
			events++
			end, err := time.Parse(time.RFC3339, m.EndDate)
			if err != nil {
				t.Fatal(err)
			}
			l := Listing{Title: m.Title, Slug: m.Slug, Tags: []string{"highest-temperature"}, End: end}
			won := 0
			for _, b := range m.Buckets {
				l.Markets = append(l.Markets, Outcome{Label: b.Bucket})
				if b.Won {
					won++
				}
			}
			e, err := Parse(reference.Gazetteer(), l)
			if unit, _ := data.ParseUnit(m.Unit); err != nil || won != 1 || e.Rules.Unit != unit {
				t.Errorf("%s: %v, %d winners, unit %s", m.Slug, err, won, e.Rules.Unit)
			}
		}
	}
	if events != 218 {
		t.Errorf("got %d events, want 218", events)
	}
}

// TestEverySnapshotOfGamma: raw events with their texts, four cities.
func TestEverySnapshotOfGamma(t *testing.T) {
	ofGamma(t, 8, testfiles.Path("feeds", "desk", "polymarket_2026-06-22.ndjson.gz"))
	if dir, ok := testfiles.Beside("C_weather_markets", "seminar4_gamma_snapshots"); ok {
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		ofGamma(t, 38, files...)
	}
}

func ofGamma(t *testing.T, events int, files ...string) {
	t.Helper()
	stations := map[string]string{"munich": "EDDM", "london": "EGLC", "nyc": "KLGA", "tokyo": "RJTT"}
	seen := map[string]bool{}
	for _, file := range files {
		lines := [][]byte{content(t, file)}
		if strings.Contains(file, "ndjson") {
			lines = bytes.Split(bytes.TrimSpace(lines[0]), []byte("\n"))
		}
		for _, line := range lines {
			for _, l := range listings(t, line) {
				e, err := Parse(reference.Gazetteer(), l)
				if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				want := Rules{Unit: e.Rules.Unit, Station: stations[e.City.Slug], Source: Wunderground, Revisable: true, Stated: true}
				if e.Rules != want || e.City.DateOf(l.GameStart) != e.Day || len(e.Ladder) != 11 {
					t.Errorf("%s: %+v, starts %s", l.Slug, e.Rules, l.GameStart)
				}
				seen[l.Slug] = true
			}
		}
	}
	if len(seen) != events {
		t.Errorf("got %d events seen, want %d", len(seen), events)
	}
}

func listings(t *testing.T, line []byte) []Listing {
	t.Helper()
	var page struct {
		Events []struct {
			ID, Title, Slug, Description, ResolutionSource, SeriesSlug string
			EndDate                                                    time.Time
			Tags                                                       []struct{ Slug string }
			Markets                                                    []struct{ Question, GroupItemTitle, Slug, GameStartTime string }
		} `json:"gamma_events"`
	}
	if err := json.Unmarshal(line, &page); err != nil {
		t.Fatal(err)
	}
	var out []Listing
	for _, e := range page.Events {
		l := Listing{ID: e.ID, Title: e.Title, Slug: e.Slug, Description: e.Description, Resolution: e.ResolutionSource, Series: e.SeriesSlug, End: e.EndDate}
		for _, tag := range e.Tags {
			l.Tags = append(l.Tags, tag.Slug)
		}
		for _, m := range e.Markets {
			l.Markets = append(l.Markets, Outcome{Question: m.Question, Label: m.GroupItemTitle, Slug: m.Slug})
			l.GameStart, _ = time.Parse("2006-01-02 15:04:05Z07", m.GameStartTime)
			// The end of the slug agrees with the label.
			label, _ := ParseLabel(m.GroupItemTitle)
			if bracket, ok := ParseSlugBracket(m.Slug, e.Slug); !ok || bracket != label {
				t.Errorf("%s: %+v, label %q", m.Slug, bracket, m.GroupItemTitle)
			}
		}
		out = append(out, l)
	}
	return out
}

// TestEverySlug of 92 event addresses, and of the 2,626 that they are taken from, if these are
// there: some with a year, some without, 26 with a number at the end.
func TestEverySlug(t *testing.T) {
	slugsOf(t, testfiles.Path("weather", "addresses.json"), 37, 29)
	if path, ok := testfiles.Beside("C_weather_markets", "tmax_lab_mit", "historical_temperature_event_urls.json"); ok {
		slugsOf(t, path, 1559, 1041)
	}
}

func slugsOf(t *testing.T, path string, years, plainOnes int) {
	t.Helper()
	var all []string
	if err := json.Unmarshal(content(t, path), &all); err != nil {
		t.Fatal(err)
	}
	year, plain, suffix := 0, 0, 0
	for _, address := range all {
		slug := address[strings.LastIndexByte(address, '/')+1:]
		title, ok := ParseSlug(slug)
		if _, known := reference.Gazetteer().Named(title.Place); !ok || !known {
			t.Errorf("%s: title = %+v, ok = %v", slug, title, ok)
		}
		switch {
		case title.Suffix != "":
			suffix++
		case title.Year != 0:
			year++
		default:
			plain++
		}
	}
	if year != years || plain != plainOnes || suffix != 26 {
		t.Errorf("%d with a year, %d without, %d with a number", year, plain, suffix)
	}
}

// TestEveryRuleText names unit, source and station.
func TestEveryRuleText(t *testing.T) {
	for name, want := range map[string]Rules{
		"hk":     {Unit: 'C', Station: "HKA", Source: HKO, Stated: true},
		"london": {Unit: 'C', Station: "EGLC", Source: Wunderground, Stated: true},
		"nyc":    {Unit: 'F', Station: "KLGA", Source: Wunderground, Stated: true},
		"seoul":  {Unit: 'C', Station: "RKSI", Source: Wunderground, Stated: true},
		"taipei": {Unit: 'C', Station: "466920", Source: CWA, Stated: true},
	} {
		c, _ := reference.Gazetteer().Named(name)
		got := ParseRules(c, on(t, "2026-03-13"), string(content(t, testfiles.Path("weather", "rules", name+"_rules.txt"))), "")
		if got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

// everyExampleOfTheNotes: the questions and labels that the notes about the desk quote.
func everyExampleOfTheNotes(t *testing.T) {
	notes, err := os.Open(filepath.Join("..", "..", "..", "shared", "weather.md"))
	if err != nil {
		t.Skipf("the notes are not here: %v", err)
	}
	defer notes.Close()
	quoted := regexp.MustCompile(`"(Will the (?:high|low)est temperature in [^"…]+\?)"|"(-?\d[^"]*°[FC][^"]*)"|"((?:High|Low)est temperature in [^"]+ on [A-Z][a-z]+ \d[^"]*)"`)
	n := 0
	for s := bufio.NewScanner(notes); s.Scan(); {
		for _, m := range quoted.FindAllStringSubmatch(s.Text(), -1) {
			n++
			_, _, question := ParseQuestion(m[1])
			_, label := ParseLabel(m[2])
			_, title := ParseTitle(m[3])
			if !question && !label && !title {
				t.Errorf("%s does not parse", m[0])
			}
		}
	}
	if n < 60 {
		t.Errorf("%d examples were found", n)
	}
}
