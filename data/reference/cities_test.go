package reference

import (
	"strings"
	"testing"
)

func TestCitiesAreThe55OfTheDesk(t *testing.T) {
	all := Cities()
	if len(all) != 55 {
		t.Fatalf("%d cities, want 55", len(all))
	}
	slugs, stations := map[string]bool{}, map[string]bool{}
	for _, c := range all {
		if slugs[c.Slug] || stations[c.Station] {
			t.Errorf("%s: slug or station twice", c.Slug)
		}
		slugs[c.Slug], stations[c.Station] = true, true
		if _, err := c.Location(); err != nil {
			t.Error(err)
		}
		if s, at, ok := Gazetteer().Station(c.Station); !ok || s.City != c.Slug || at.Slug != c.Slug {
			t.Errorf("station %s leads to %+v", c.Station, s)
		}
		if near, km, ok := Gazetteer().Nearest(c.Lat, c.Lon); !ok || near.Slug != c.Slug || km != 0 {
			t.Errorf("%s is nearest to %s, %.1f km", c.Slug, near.Slug, km)
		}
	}
}

func TestCityBySlugKnowsOnlyWholeSlugs(t *testing.T) {
	nyc, ok := CityBySlug("nyc")
	if !ok || nyc.Question != "New York City" || nyc.Station != "KLGA" || nyc.Unit != "F" {
		t.Errorf("nyc: %+v %v", nyc, ok)
	}
	if _, ok := CityBySlug("la"); ok {
		t.Error("la is not a slug")
	}
}

func TestCitiesCannotBeChangedByACaller(t *testing.T) {
	Cities()[0].Slug = "changed"
	if Cities()[0].Slug != "london" {
		t.Error("callers share one table")
	}
}

// TestNamesAreWhole checks that an alias within a longer name does not match.
func TestNamesAreWhole(t *testing.T) {
	for name, want := range map[string]string{
		"NYC": "nyc", "New York City": "nyc", "new-york-city": "nyc", "New York": "nyc", "LA": "los-angeles", "hk": "hong-kong",
		"São Paulo": "sao-paulo", "SÃO-PAULO": "sao-paulo", "Sa\u0303o Paulo": "sao-paulo", "Seoul (Incheon)": "seoul",
		"Manila": "manila", "Dallas": "dallas", "Atlanta": "atlanta", "Milan": "milan", "Kuala Lumpur": "kuala-lumpur", "İstanbul": "istanbul",
		"DC": "", "Auckland": "", "Lagos Island": "", "": "",
	} {
		if c, _ := Gazetteer().Named(name); c.Slug != want {
			t.Errorf("%q is %q, want %q", name, c.Slug, want)
		}
	}
}

// TestStationsOfOneCityAreToldApart: LaGuardia settles New York, Central Park does not, and each
// has several ids.
func TestStationsOfOneCityAreToldApart(t *testing.T) {
	for id, want := range map[string]string{
		"KLGA": "KLGA nyc", "klga": "KLGA nyc", "LGA": "KLGA nyc", "USW00014732": "KLGA nyc", "USW00094728": "KNYC nyc",
		"LFPB": "LFPB paris", "LFPG": "LFPG paris", "HKO": "HKO hong-kong", "HKA": "VHHH hong-kong", "KBOS": " ",
	} {
		if s, _, _ := Gazetteer().Station(id); s.ID+" "+s.City != want {
			t.Errorf("%s is %+v, want %s", id, s, want)
		}
	}
}

func TestTheOperatorAddsAndReplacesCities(t *testing.T) {
	g, err := Extended("\uFEFF"+cityHeader+"\nAuckland,Auckland,auckland,NZ,NZAA,C,-37.0081,174.7920,Pacific/Auckland\n"+
		"Denver,Denver,denver,US,KDEN,F,39.85,-104.65,America/Denver\n", "id,station,city,name\n93119,NZAA,auckland,Auckland Aero\n")
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := g.Named("Auckland"); !ok || c.Station != "NZAA" || len(g.Cities()) != 56 {
		t.Errorf("%+v, %d cities", c, len(g.Cities()))
	}
	if c, _ := g.City("denver"); c.Station != "KDEN" {
		t.Errorf("denver is %+v", c)
	}
	if s, _, _ := g.Station("93119"); s.ID != "NZAA" {
		t.Errorf("station %+v", s)
	}
	if g, err := Extended("", " \n"); err != nil || len(g.Cities()) != 55 {
		t.Errorf("nothing added gives %v", err)
	}
}

func TestABadTableNamesFileLineAndReason(t *testing.T) {
	for row, want := range map[string]string{
		"A,A,a,GB,EGLL,K,1,0,UTC":                           `cities.csv: line 3: unit: "K" is neither C nor F`,
		"A,A,a,GB,EGLL,C,x,0,UTC":                           `cities.csv: line 3: lat: strconv.ParseFloat: parsing "x": invalid syntax`,
		"A,A,a,GB,EGLL,C,91,0,UTC":                          "cities.csv: line 3: lat: 91 is not between -90 and 90",
		"A,A,a,GB,EGLL,C,NaN,0,UTC":                         "cities.csv: line 3: lat: NaN is not between -90 and 90",
		"A,A,a,GB,EGLL,C,1,0,Europe/Atlantis":               "cities.csv: line 3: zone of a: unknown time zone Europe/Atlantis",
		"A,A,A,GB,EGLL,C,1,0,UTC":                           `cities.csv: line 3: slug: "A" is not lower-case letters joined by hyphens`,
		"A,A,a,GB,EGLL,C,1,0":                               "cities.csv: line 3: 8 cells where the header has 9",
		"A,A,a,GBR,EGLL,C,1,0,UTC":                          `cities.csv: line 3: country: "GBR" is not two capital letters`,
		"London,LA,a,GB,EGLL,C,1,0,UTC":                     `the name "London" means both london and a`,
		"A,A,a,GB,KLGA,C,1,0,UTC":                           "the station KLGA is listed for both nyc and a",
		"A,,a,GB,EGLL,C,1,0,UTC":                            "cities.csv: line 3: title, question: a name is empty",
		"A,A,a,GB,egll,C,1,0,UTC":                           `cities.csv: line 3: station: "egll" is not a station code`,
		"A,A,a,GB,EGLL,C,1,0,":                              "cities.csv: line 3: zone: is empty",
		"A,A,a,GB,EGLL,C,1,0,UTC\nB,B,a,GB,X1234,C,1,0,UTC": "cities.csv: line 4: slug: a is listed twice",
	} {
		_, err := Extended(cityHeader+"\n\n"+row+"\n", "")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n gives %v\nwant  %s", row, err, want)
		}
	}
	if _, err := Extended("name,lat\n", ""); err == nil || !strings.Contains(err.Error(), "line 1: the header is") {
		t.Errorf("a foreign header gives %v", err)
	}
	if _, err := Extended("", "id,station,city,name\nX,NZAA,nyc,n\n"); err == nil || !strings.Contains(err.Error(), "stations.csv: line 2") {
		t.Errorf("a bad station gives %v", err)
	}
	if _, err := Extended("", "id,station,city,name\nNZAA,NZAA,atlantis,n\n"); err == nil || !strings.Contains(err.Error(), `city "atlantis"`) {
		t.Errorf("an unknown city gives %v", err)
	}
}
