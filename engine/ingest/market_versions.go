package ingest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"pmx/data"
)

// fieldVersion is the version of what m says of a field, data.Unsaid where it says nothing.
func fieldVersion(m *data.Market, i int) int64 {
	switch {
	case m.Versions != nil:
		return m.Versions[i]
	case marketFields[i].said(m):
		return m.Version()
	}
	return data.Unsaid
}

// mergeMarket puts what another record of the same file says into old, field by field, by
// the same rule that MarketsNext applies between files.
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

// lostTokens are the tokens of lists that gave way to another: they are the market's all
// the same, as they are where each list comes in a file of its own.
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

// takes reports whether what next says of a field stands against what old says, by their versions.
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

// untakenOf is the reason of the newer record; a trade has none.
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

// soundMarket leaves out of a record what cannot be so, and gives it the versions of its fields if
// they are not all its own. What has a time of closing is closed.
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

// versionsText is what the column field_versions has of a market: the versions of fields that are
// not of its own, as JSON in the order of marketFields, nil if all are. That a market which is open
// has no time of closing is not written down.
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
