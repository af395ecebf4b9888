package feeds

import (
	"cmp"
	"slices"
	"strings"

	"pmx/data"
)

// nearest is the number of feeds that an error suggests.
const nearest = 3

// nearestNames returns the most similar names of feeds: those that contain name or have at least half
// of it in common. It returns none if none is similar.
func nearestNames(name string) []string {
	score := func(feed string) int {
		if len(name) >= 3 && strings.Contains(feed, name) {
			return 0
		}
		return distance(name, feed)
	}
	names := slices.DeleteFunc(Names(), func(feed string) bool { return 2*score(feed) > max(len(name), len(feed)) })
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(score(a), score(b)) })
	return names[:min(nearest, len(names))]
}

// distance is the number of letters that must be added, removed or changed to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// nearestFeeds returns the feeds whose declared columns or keys have the most names in common with
// a head; none if fewer than two names are in common.
func nearestFeeds(h data.Head) []string {
	seen := map[string]bool{}
	for _, names := range [][]string{h.Columns, h.Keys} {
		for _, name := range names {
			seen[strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])] = true
		}
	}
	type scored struct {
		name  string
		score int
	}
	var found []scored
	for _, f := range All() {
		words := strings.FieldsFunc(strings.ToLower(f.About), func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_", r) })
		slices.Sort(words)
		score := 0
		for _, word := range slices.Compact(words) {
			if seen[word] {
				score++
			}
		}
		if score >= 2 {
			found = append(found, scored{f.Name, score})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var names []string
	for _, f := range found[:min(nearest, len(found))] {
		names = append(names, f.name)
	}
	return names
}
