// Package reference has the built-in tables: the categories of tags, the cities of the weather
// desk, and the venue's own wallets.
package reference

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed categories.csv
var categoriesCSV string

// categoryRule gives the category of a tag slug. The lowest weight among the tags of a market wins,
// so "Will Bitcoin fall on election day", tagged crypto and politics, always gets the same
// category.
type categoryRule struct {
	category string
	weight   int
}

var categoryTable = sync.OnceValues(func() (map[string]categoryRule, error) { return parseCategories(categoriesCSV) })

// CategoryOf returns the category of the tag slug with the highest priority, and "" if none of them
// is in the table. The categories are weather, sports, crypto, politics, world, economics, finance,
// tech, culture and other. Labels such as "Pop Culture" are accepted as well as slugs.
func CategoryOf(tags []string) string {
	table, err := categoryTable()
	if err != nil {
		panic(err) // the embedded table is broken: a build fault the tests catch
	}
	best := categoryRule{weight: 1 << 30}
	for _, t := range tags {
		if r, ok := table[tagSlug(t)]; ok && r.weight < best.weight {
			best = r
		}
	}
	return best.category
}

// Categories lists the categories of the table in alphabetical order.
func Categories() []string {
	table, err := categoryTable()
	if err != nil {
		panic(err) // the embedded table is broken: a build fault the tests catch
	}
	seen := map[string]bool{}
	for _, r := range table {
		seen[r.category] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// CategoryList returns Categories joined with commas.
func CategoryList() string { return strings.Join(Categories(), ", ") }

// CategoryOfSlug returns the category that follows from the beginning of a market's or event's
// slug, such as "nba-" or "highest-temperature-in-", and "" if none does.
func CategoryOfSlug(slug string) string {
	table, err := categoryTable()
	if err != nil {
		panic(err) // the embedded table is broken: a build fault the tests catch
	}
	for i := strings.LastIndexByte(slug, '-'); i > 0; i = strings.LastIndexByte(slug[:i], '-') {
		if r, ok := table[slug[:i+1]+"*"]; ok {
			return r.category
		}
	}
	return ""
}

// tagSlug writes a label as its slug: lower case, words joined by a hyphen.
func tagSlug(label string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(label), func(r rune) bool {
		return r == ' ' || r == '-' || r == '_' || r == '&'
	}), "-")
}

func parseCategories(text string) (map[string]categoryRule, error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("categories.csv: %w", err)
	}
	out := make(map[string]categoryRule, len(rows))
	for i, r := range rows[1:] {
		weight, err := strconv.Atoi(r[2])
		if err != nil {
			return nil, fmt.Errorf("categories.csv: line %d: weight: %w", i+2, err)
		}
		if _, twice := out[r[0]]; twice {
			return nil, fmt.Errorf("categories.csv: line %d: %s is listed twice", i+2, r[0])
		}
		out[r[0]] = categoryRule{category: r[1], weight: weight}
	}
	return out, nil
}
