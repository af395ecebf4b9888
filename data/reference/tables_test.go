package reference

import (
	"slices"
	"testing"
)

func TestCategoryOfTheStrongestTag(t *testing.T) {
	for _, tc := range []struct {
		tags []string
		want string
	}{
		{[]string{"politics", "weather"}, "weather"},
		{[]string{"Pop-Culture "}, "culture"},
		{[]string{"US-current-affairs"}, "politics"},
		{[]string{"NBA Playoffs"}, "sports"},
		{[]string{"no-such-tag"}, ""},
		{nil, ""},
	} {
		if got := CategoryOf(tc.tags); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.tags, got, tc.want)
		}
	}
}

func TestCategoryOfASlugsBeginning(t *testing.T) {
	for slug, want := range map[string]string{
		"nba-uta-gsw-2026-01-03":               "sports",
		"highest-temperature-in-nyc-on-may-1":  "weather",
		"bitcoin-up-or-down-october-1":         "crypto",
		"nbaish":                               "",
		"will-trump-mention-nba-in-his-speech": "",
		"":                                     "",
	} {
		if got := CategoryOfSlug(slug); got != want {
			t.Errorf("%q: %q, want %q", slug, got, want)
		}
	}
}

func TestVenueWallets(t *testing.T) {
	if n := len(Exchanges()); n != 5 {
		t.Errorf("%d exchanges, want both generations of two and the third", n)
	}
	for _, w := range VenueWallets() {
		if IsExchange(w.Address) != (w.Kind == "exchange") {
			t.Errorf("%+v", w)
		}
	}
}

func TestCategoriesAreEachListedOnce(t *testing.T) {
	want := []string{"crypto", "culture", "economics", "finance", "other", "politics", "sports", "tech", "weather", "world"}
	if got := Categories(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
