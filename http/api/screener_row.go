package api

import (
	"slices"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/rollups/serving"
	"pmx/rollups/serving/screen"
)

// screenRow is a market while its row is written.
type screenRow struct {
	market  *serving.Market
	basis   string
	columns *screen.Columns
	id      int32
}

func (w *marketEpoch) row(id int32) screenRow {
	return screenRow{market: w.catalog.Market(id), basis: basisName(w.catalog.Figures(id)), columns: w.screener.Columns, id: id}
}

// rowMember is one member of a row.
type rowMember struct {
	name  string
	write func(b []byte, r *screenRow) []byte
}

// rowMembers are the members of wire.ScreenerRow, in order.
func rowMembers() []rowMember {
	text := func(name string, of func(m *serving.Market) string) rowMember {
		return rowMember{name, func(b []byte, r *screenRow) []byte { return appendText(b, of(r.market)) }}
	}
	texts := func(name string, of func(m *serving.Market) []string) rowMember {
		return rowMember{name, func(b []byte, r *screenRow) []byte { return appendTexts(b, of(r.market)) }}
	}
	return []rowMember{
		text("condition_id", func(m *serving.Market) string { return m.Condition.String() }),
		text("question", func(m *serving.Market) string { return m.Question }),
		text("slug", func(m *serving.Market) string { return m.Slug }),
		text("event_id", func(m *serving.Market) string { return m.EventID }),
		text("event_slug", func(m *serving.Market) string { return m.EventSlug }),
		text("event_title", func(m *serving.Market) string { return m.EventTitle }),
		text("category", func(m *serving.Market) string { return m.Category }),
		texts("tags", func(m *serving.Market) []string { return m.Tags }),
		text("status", func(m *serving.Market) string { return string(m.Status()) }),
		{"neg_risk", func(b []byte, r *screenRow) []byte { return appendFlag(b, r.market.NegRisk) }},
		texts("outcomes", func(m *serving.Market) []string { return m.Outcomes }),
		figureMember(screen.Price), figureMember(screen.PriceChange24h), figureMember(screen.Spread), figureMember(screen.Liquidity),
		figureMember(screen.Volume24h), figureMember(screen.Volume7d), figureMember(screen.Volume30d), figureMember(screen.Volume),
		{"volume_basis", func(b []byte, r *screenRow) []byte { return appendText(b, r.basis) }},
		figureMember(screen.Traders24h), figureMember(screen.Traders), figureMember(screen.Trades), figureMember(screen.WhaleFlow24h),
		figureMember(screen.CreatedAt), figureMember(screen.EndDate), figureMember(screen.ResolvedAt),
		text("resolved_at_source", func(m *serving.Market) string { return m.ResolvedBy.String() }), figureMember(screen.LastTradeAt),
	}
}

// figureMember is the member that holds a field of the columns.
func figureMember(f screen.Field) rowMember {
	figure := figureOf(f)
	return rowMember{figure.name, func(b []byte, r *screenRow) []byte {
		v := r.columns.Value(r.id, f)
		switch {
		case v == screen.Null:
			return append(b, "null"...)
		case figure.time:
			return appendMicros(b, v)
		case figure.count:
			return strconv.AppendInt(b, v, 10)
		}
		return data.Micro(v).Append(b)
	}}
}

// appendRow writes the members of a row, without braces.
func appendRow(b []byte, members []rowMember, r *screenRow) []byte {
	for i := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), members[i].name...), `":`...)
		b = members[i].write(b, r)
	}
	return b
}

// members returns the members listed in the parameter fields; all if it is not given. Their order
// is that of the row, whatever the order of the parameter.
func (a *API) members(call *Call) ([]rowMember, *problem) {
	lists := call.texts(screenFieldList)
	if lists == nil {
		return a.rowMembers, nil
	}
	asked := make([]bool, len(a.rowMembers))
	for _, list := range lists {
		for name := range strings.SplitSeq(list, ",") {
			at := slices.IndexFunc(a.rowMembers, func(m rowMember) bool { return m.name == strings.TrimSpace(name) })
			if at < 0 {
				return nil, invalid("fields", "fields must be a list of one or more of "+memberNames(a.rowMembers)+".")
			}
			asked[at] = true
		}
	}
	var members []rowMember
	for i, m := range a.rowMembers {
		if asked[i] {
			members = append(members, m)
		}
	}
	return members, nil
}

// listPattern is the pattern of a text that lists names of members.
func listPattern(members []rowMember) string {
	one := " *(" + strings.ReplaceAll(memberNames(members), ", ", "|") + ") *"
	return "^" + one + "(," + one + ")*$"
}

func memberNames(members []rowMember) string {
	var names []string
	for _, m := range members {
		names = append(names, m.name)
	}
	return strings.Join(names, ", ")
}
