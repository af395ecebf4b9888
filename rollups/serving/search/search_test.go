package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pmx/rollups/serving/search"
)

func TestWordsAreFolded(t *testing.T) {
	for text, want := range map[string]string{
		"Will Bitcoin hit $100,000?":  "will bitcoin hit 100000",
		"São Paulo — MÜNCHEN":         "sao paulo munchen",
		"Straße, Łódź, Æsir, Ødegård": "strasse lodz aesir odegard",
		"Trump's won't":               "trump s won t",
		"yes YES Yes":                 "yes",
		"1,2,3 1,2345 12,345,678":     "1 2 3 2345 12345678",
		"will-it-rain_2026":           "will it rain 2026",
		"ＦＵＬＬ ｗｉｄｔｈ ½":                "full width 1 2",
		"Привет, МИР":                 "привет мир",
		"İstanbul ıssız":              "istanbul issiz",
		"?! … \xff\xfe ₿":             "",
		"":                            "",
	} {
		if got := strings.Join(search.Words(text), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// titles are found by the queries of TestLevels at the levels given there.
var titles = []struct{ title, others string }{
	0: {"Bitcoin above 100k", "bitcoin-above-100k crypto prices"},
	1: {"Will Bitcoin be above 100k in March?", "bitcoin-march"},
	2: {"Will the president resign?", "us-politics election presidency-2028"},
	3: {"Élection présidentielle", ""},
	4: {"House of Cards", ""},
	5: {"Horse race 2024", ""},
	6: {"", "only-a-slug"},
}

func TestLevels(t *testing.T) {
	b := search.NewBuilder()
	for i, m := range titles {
		b.Set(int32(i), m.title, m.others)
	}
	x := b.Seal()
	for _, c := range []struct {
		query string
		want  string // level:market
	}{
		{"100K bitcoin ABOVE", "0:0 1:1"},
		{"bitcoin", "1:0 1:1"},
		{"bitcoin crypto", "2:0"},
		{"bit", "3:0 3:1"},
		{"bit cry", "4:0"},
		{"presidnt", "5:2"},      // a letter missing; presidency and présidentielle are further away
		{"presid", "3:2 3:3"},    // presidency is outside of 2's title, president inside
		{"election", "1:3 2:2"},  // accents do not count; 2 has it in a slug
		{"electoin", "5:3 6:2"},  // two neighbours swapped
		{"bitcon crypto", "6:0"}, // crypto stands outside the title
		{"bitcon abovee", ""},    // two typos
		{"house", "1:4 5:5"},     // horse is one substitution away, and comes last
		{"hous", "3:4"},          // a beginning is better than a typo, and found once
		{"2025", ""},             // numbers are not misspelt
		{"hose", "5:4 5:5"},      // house and horse: a letter missing
		{"bti", ""},              // three letters are not misspelt
		{"only slug", "2:6"}, {"sl", "4:6"}, {"zzz", ""}, {"bitcoin zzzz", ""}, {"", ""},
	} {
		var want []string
		for f := range strings.FieldsSeq(c.want) {
			want = append(want, f)
		}
		if got := found(x, c.query, len(titles)); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", c.query, got, want)
		}
	}
}

// found lists what a query finds, as level:market.
func found(x *search.Index, query string, markets int) []string {
	m := x.Find(search.Words(query))
	defer m.Release()
	var list []string
	for l := range search.Levels {
		for id := range int32(markets) {
			if m.Level(l).Has(id) {
				list = append(list, fmt.Sprintf("%d:%d", l, id))
			}
		}
	}
	if m.Count() != len(list) || m.All().Count() != len(list) {
		list = append(list, fmt.Sprintf("but counted %d and %d", m.Count(), m.All().Count()))
	}
	return list
}

// After any changes, the index finds the same as a search of every market; indexes from before a
// change still find what they found.
func TestIndexFindsWhatAFullScanFinds(t *testing.T) {
	words := []string{"trump", "trumpp", "tramp", "turmp", "bitcoin", "bitcoins", "bit", "b", "will", "win", "wine", "wins", "2024", "2025", "łódź", "lodz", "a", "the"}
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 4).Draw(t, "text"), " ")
	})
	type market struct {
		title, others string
		set           bool
	}
	rapid.Check(t, func(t *rapid.T) {
		b := search.NewBuilder()
		var venue []market
		type sealed struct {
			x     *search.Index
			venue []market
		}
		var all []sealed
		for range rapid.IntRange(1, 8).Draw(t, "batches") {
			for range rapid.IntRange(0, 6).Draw(t, "markets") {
				id := rapid.IntRange(0, len(venue)+2).Draw(t, "id")
				for id >= len(venue) {
					venue = append(venue, market{})
				}
				venue[id] = market{text.Draw(t, "title"), text.Draw(t, "others"), true}
				b.Set(int32(id), venue[id].title, venue[id].others)
			}
			all = append(all, sealed{b.Seal(), slices.Clone(venue)})
		}
		fresh := search.NewBuilder()
		for id, m := range venue {
			if m.set {
				fresh.Set(int32(id), m.title, m.others)
			}
		}
		if last := all[len(all)-1].x; !last.Equal(fresh.Seal()) {
			t.Fatal("the index differs from one built at once")
		}
		query := text.Draw(t, "query")
		if q := []rune(query); len(q) > 2 && rapid.Bool().Draw(t, "cut") {
			query = string(q[:len(q)-1])
		}
		for i, s := range all {
			var want []string
			for id, m := range s.venue {
				if l := levelOf(search.Words(query), m.title, m.others); l < search.Levels {
					want = append(want, fmt.Sprintf("%d:%d", l, id))
				}
			}
			slices.Sort(want)
			got := found(s.x, query, len(s.venue))
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("index %d of %d, %q: got %v, want %v", i, len(all), query, got, want)
			}
		}
	})
}

// levelOf applies the definition of the levels to one market.
func levelOf(query []string, title, others string) search.Level {
	in, all := search.Words(title), search.Words(title+" "+others)
	every := func(words []string, typos int, match func(q, w string) bool) bool {
		for _, q := range query {
			if slices.ContainsFunc(words, func(w string) bool { return match(q, w) }) {
				continue
			}
			typos--
			if typos < 0 || len([]rune(q)) < 4 || strings.ContainsAny(q, "0123456789") ||
				!slices.ContainsFunc(words, func(w string) bool {
					return !strings.ContainsAny(w, "0123456789") && distance([]rune(q), []rune(w)) == 1
				}) {
				return false
			}
		}
		return len(query) > 0
	}
	same := func(q, w string) bool { return q == w }
	begins := func(q, w string) bool { return strings.HasPrefix(w, q) }
	switch {
	case every(in, 0, same) && len(in) == len(query):
		return search.Whole
	case every(in, 0, same):
		return search.Title
	case every(all, 0, same):
		return search.Exact
	case every(in, 0, begins):
		return search.TitlePrefix
	case every(all, 0, begins):
		return search.Prefix
	case every(in, 1, begins):
		return search.TitleTypo
	case every(all, 1, begins):
		return search.Typo
	}
	return search.Levels
}

// distance is the Damerau-Levenshtein distance in which no letter is edited twice, computed with
// the textbook's table.
func distance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
