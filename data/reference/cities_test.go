package reference

import "testing"

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
		if c.Unit != "C" && c.Unit != "F" {
			t.Errorf("%s: unit %q", c.Slug, c.Unit)
		}
		if c.Lat < -90 || c.Lat > 90 || c.Lon < -180 || c.Lon > 180 || c.Lat == 0 {
			t.Errorf("%s: position %v %v", c.Slug, c.Lat, c.Lon)
		}
		if len(c.Country) != 2 || len(c.Station) < 3 || c.Title == "" || c.Question == "" {
			t.Errorf("%s: incomplete: %+v", c.Slug, c)
		}
		if _, err := c.Location(); err != nil {
			t.Error(err)
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
		t.Error("the table is shared")
	}
}

func TestParseCitiesNamesTheLineOfABadNumber(t *testing.T) {
	_, err := parseCities("title,question,slug,country,station,unit,lat,lon,zone\nA,A,a,GB,EGLC,C,x,0,UTC\n")
	if err == nil || err.Error() != `cities.csv: line 2: lat: strconv.ParseFloat: parsing "x": invalid syntax` {
		t.Errorf("error %v", err)
	}
}
