// Package feeds has every file format that can be imported. It detects the feed of a file by its
// first bytes, never by its name, and converts the file to rows of package data.
package feeds

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"pmx/data"
	"pmx/data/feeds/canonical"
	"pmx/data/feeds/fpmm"
	"pmx/data/feeds/ghcn"
	"pmx/data/feeds/hko"
	"pmx/data/feeds/iem"
	"pmx/data/feeds/jonbecker"
	"pmx/data/feeds/lists"
	"pmx/data/feeds/metar"
	"pmx/data/feeds/ncei"
	"pmx/data/feeds/nws"
	"pmx/data/feeds/openmeteo"
	"pmx/data/feeds/polydata"
	"pmx/data/feeds/polygon"
	"pmx/data/feeds/polymarket"
	"pmx/data/feeds/subgraph"
	"pmx/data/feeds/wallet"
)

// All returns every feed, in the order in which help texts list them.
func All() []data.Feed {
	return slices.Concat(canonical.Feeds(), polymarket.Feeds(), polydata.Feeds(), subgraph.Feeds(), jonbecker.Feeds(),
		polygon.Feeds(), fpmm.Feeds(), lists.Feeds(), wallet.Feeds(), openmeteo.Feeds(),
		nws.Feeds(), metar.Feeds(), iem.Feeds(), ghcn.Feeds(), hko.Feeds(), ncei.Feeds())
}

// Names returns the names of all feeds, as --as accepts them.
func Names() []string {
	var out []string
	for _, f := range All() {
		out = append(out, f.Name)
	}
	return out
}

// ByName returns the feed of that name; the error lists similar names, if there are any.
func ByName(name string) (data.Feed, error) {
	for _, f := range All() {
		if f.Name == name {
			return f, nil
		}
	}
	if near := nearestNames(name); len(near) > 0 {
		return data.Feed{}, fmt.Errorf("no feed is named %q; the most similar are %s, and pmx import --help lists all", name, strings.Join(near, ", "))
	}
	return data.Feed{}, fmt.Errorf("no feed is named %q: pmx import --help lists all", name)
}

// Detect returns the feed that h belongs to. The error is a *ForeignError for a file that is known
// to be something else, an *UnknownError if no feed fits, and an *AmbiguousError if several do.
func Detect(h data.Head) (data.Feed, error) {
	if err := foreign(h); err != nil {
		return data.Feed{}, err
	}
	var found []data.Feed
	for _, f := range All() {
		if slices.Contains(f.Formats, h.Format) && f.Match(h) {
			found = append(found, f)
		}
	}
	switch len(found) {
	case 0:
		return data.Feed{}, &UnknownError{Head: h}
	case 1:
		return found[0], nil
	}
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = f.Name
	}
	return data.Feed{}, &AmbiguousError{Names: names}
}

// UnknownError describes a file that no feed recognises.
type UnknownError struct{ Head data.Head }

// Error describes the file and names the most similar feeds.
func (e *UnknownError) Error() string {
	switch {
	case e.Head.Format != data.Parquet && len(bytes.TrimSpace(e.Head.Bytes)) == 0:
		return "this is an empty file: there is nothing to import"
	case isProse(e.Head):
		return fmt.Sprintf("not recognised: this is text without columns, which begins with %q: only CSV, NDJSON, JSON and Parquet can be imported", clipped(strings.TrimSpace(e.Head.Columns[0])))
	}
	near := nearestFeeds(e.Head)
	if len(near) == 0 {
		return fmt.Sprintf("not recognised: %s; to import it anyway, name its feed with --as: pmx import --help lists them", describe(e.Head))
	}
	return fmt.Sprintf("not recognised: %s; the most similar feeds are %s: if it is one of these, name it with --as, else see pmx import --help",
		describe(e.Head), strings.Join(near, ", "))
}

// AmbiguousError names the feeds that a file could be of.
type AmbiguousError struct{ Names []string }

// Error names the feeds and asks for one of them.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("could be any of %s: name one with --as", strings.Join(e.Names, ", "))
}

// isProse reports whether a file that no feed recognises has text instead of a table: its first line
// is a heading of Markdown, or one cell of several words.
func isProse(h data.Head) bool {
	if h.Format != data.CSV || len(h.Columns) == 0 {
		return false
	}
	first := strings.TrimSpace(h.Columns[0])
	return strings.HasPrefix(strings.TrimLeft(first, "#"), " ") || len(h.Columns) == 1 && strings.Contains(first, " ")
}

func describe(h data.Head) string {
	kind, seen := "columns", h.Columns
	if h.Format == data.JSON || h.Format == data.NDJSON {
		kind, seen = "keys", h.Keys
	}
	if len(seen) == 0 {
		return fmt.Sprintf("a %s file without records", h.Format)
	}
	shown := make([]string, 0, mostNames+1)
	for _, name := range seen {
		name = clipped(name)
		if slices.Contains(shown, name) {
			continue // ids that begin alike
		}
		if len(shown) == mostNames {
			shown = append(shown, "…")
			break
		}
		shown = append(shown, name)
	}
	return fmt.Sprintf("a %s file with the %s %s", h.Format, kind, strings.Join(shown, ", "))
}

// The maximum number of column names in a message, and of characters of one: a key may be an id of
// 78 digits.
const mostNames, longestName = 12, 32

func clipped(name string) string {
	if r := []rune(name); len(r) > longestName {
		return string(r[:longestName]) + "…"
	}
	return name
}
