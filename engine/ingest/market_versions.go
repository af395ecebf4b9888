package ingest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"pmx/data"
)

// fieldVersion returns the version of a field of m; data.Unsaid if it is missing.
func fieldVersion(m *data.Market, i int) int64 {
	switch {
	case m.Versions != nil:
		return m.Versions[i]
	case marketFields[i].said(m):
		return m.Version()
	}
	return data.Unsaid
}

// mergeMarket merges another record of the same file into old, field by field, by the rule that
// MarketsNext applies between files.
func mergeMarket(old, next data.Market) data.Market {
	out := old
	out.Versions = make([]int64, len(marketFields))
	for i, f := range marketFields {
		mine, other := fieldVersion(&old, i), fieldVersion(&next, i)
		out.Versions[i] = mine
		if takes(i, &old, &next, mine, other) {
			f.take(&out, &next)
			out.Versions[i] = other
		}
	}
	out.Mapped = lostTokens(&old, &next, &out)
	out.Untaken = untakenOf(&old, &next)
	out.Stub = old.Stub && next.Stub
	out.Lacks, out.Unquoted = 0, later(unquoted(&old), unquoted(&next))
	out.UpdatedAt = later(old.UpdatedAt, next.UpdatedAt)
	out.Resolution = betterResolution(old.Resolution, next.Resolution)
	return out
}

// lostTokens returns the tokens of lists that are not used: they still belong to the market, as
// they do if each list comes in a separate file.
func lostTokens(old, next, merged *data.Market) []data.TokenRef {
	lost := slices.Concat(old.Mapped, next.Mapped)
	for _, m := range []*data.Market{old, next} {
		for i, id := range m.TokenIDs {
			ref := data.TokenRef{TokenID: id, Condition: m.Condition, Outcome: i}
			if (i >= len(merged.TokenIDs) || merged.TokenIDs[i] != id) && !slices.Contains(lost, ref) {
				lost = append(lost, ref)
			}
		}
	}
	return lost
}

// takes reports whether a field of next is used instead of that of old, by their versions.
func takes(i int, old, next *data.Market, mine, other int64) bool {
	if other == data.Unsaid || mine == data.Unsaid {
		return other != data.Unsaid
	}
	if i == categoryAt {
		if rank := categoryRank(next) - categoryRank(old); rank != 0 {
			return rank > 0
		}
	}
	return other > mine || other == mine && marketFields[i].compare(next, old) > 0
}

// untakenOf returns the reason of the newer record; a trade has none.
func untakenOf(a, b *data.Market) data.Untaken {
	switch {
	case b.Version() > a.Version():
		a, b = b, a
	case b.Version() == a.Version():
		return max(a.Untaken, b.Untaken)
	}
	if a.Stub {
		return max(a.Untaken, b.Untaken)
	}
	return a.Untaken
}

// soundMarket removes invalid values from a record, and sets the versions of its fields if they
// differ from its own. A market with a closing time is closed.
func soundMarket(m *data.Market) {
	soundQuote(m)
	switch {
	case m.Closed != nil && !*m.Closed:
		m.ClosedAt = time.Time{}
	case m.Closed == nil && !m.ClosedAt.IsZero():
		closed := true
		m.Closed = &closed
	}
	if len(m.FieldVersions) == 0 {
		return
	}
	versions := make([]int64, len(marketFields))
	for i := range versions {
		versions[i] = fieldVersion(m, i)
	}
	for _, v := range m.FieldVersions {
		if i, known := fieldPlaces[v.Name]; known && (versions[i] != data.Unsaid || i == closingAt) {
			versions[i] = v.Version
		}
	}
	switch {
	case !m.ClosedAt.IsZero():
		versions[closingAt] = min(versions[closingAt], versions[closedAt])
	case m.Closed != nil && !*m.Closed:
		versions[closingAt] = versions[closedAt]
	}
	m.FieldVersions, m.Versions = nil, versions
}

// versionsText returns the value of the column field_versions: the versions of fields that differ
// from the record's own, as JSON in the order of marketFields; nil if there are none. A missing
// closing time of an open market is not included.
func versionsText(m *data.Market) any {
	if m.Versions == nil {
		return nil
	}
	var b strings.Builder
	for i, f := range ownFields {
		v := m.Versions[i]
		gone := i == closingAt && m.ClosedAt.IsZero()
		if v == data.Unsaid || gone && m.Closed != nil && !*m.Closed || !gone && v == m.Version() {
			continue
		}
		b.WriteString(`,"` + f.column + `":` + strconv.FormatInt(v, 10))
	}
	if b.Len() == 0 {
		return nil
	}
	return "{" + b.String()[1:] + "}"
}
