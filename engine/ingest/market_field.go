package ingest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"pmx/data"
)

// marketField is a field of a market. Each has its own version, that of the record that it is from.
// If two records have a field, the one with the later version is used, and for equal versions the
// larger value. A missing field of a record is ignored.
type marketField struct {
	column  string
	rule    string // name of the statement that decides whether the file's value is used
	said    func(m *data.Market) bool
	compare func(a, b *data.Market) int // of two values that are not missing
	take    func(to, from *data.Market)
}

// Indexes of fields in marketFields and in data.Market.Versions. The fields of a quote are
// included, but missing ones count as removed, and the database stores their versions with them.
var (
	marketFields = []marketField{
		textField("gamma_id", func(m *data.Market) *string { return &m.GammaID }),
		textField("question_id", func(m *data.Market) *string { return &m.QuestionID }),
		textField("question", func(m *data.Market) *string { return &m.Question }),
		textField("slug", func(m *data.Market) *string { return &m.Slug }),
		textField("description", func(m *data.Market) *string { return &m.Description }),
		textField("resolution_source", func(m *data.Market) *string { return &m.ResolutionSource }),
		textField("group_item_title", func(m *data.Market) *string { return &m.GroupItemTitle }),
		textField("group_item_threshold", func(m *data.Market) *string { return &m.GroupItemThreshold }),
		textField("icon", func(m *data.Market) *string { return &m.Icon }),
		textField("event_id", func(m *data.Market) *string { return &m.EventID }),
		textField("event_slug", func(m *data.Market) *string { return &m.EventSlug }),
		textField("event_title", func(m *data.Market) *string { return &m.EventTitle }),
		textField("series_slug", func(m *data.Market) *string { return &m.SeriesSlug }),
		flagField("neg_risk", func(m *data.Market) **bool { return &m.NegRisk }),
		textField("neg_risk_market_id", func(m *data.Market) *string { return &m.NegRiskMarketID }),
		categoryField(),
		listField("tags", func(m *data.Market) *[]string { return &m.Tags }),
		listField("outcomes", func(m *data.Market) *[]string { return &m.Outcomes }),
		listField("token_ids", func(m *data.Market) *[]string { return &m.TokenIDs }),
		listField("prices", func(m *data.Market) *[]data.Micro { return &m.Prices }),
		flagField("active", func(m *data.Market) **bool { return &m.Active }),
		flagField("closed", func(m *data.Market) **bool { return &m.Closed }),
		flagField("accepting_orders", func(m *data.Market) **bool { return &m.AcceptingOrders }),
		field("reported_volume", "StandsScalar", func(m *data.Market) **data.Micro { return &m.ReportedVolume }, isThere, compareMicros),
		timeField("created_at", func(m *data.Market) *time.Time { return &m.CreatedAt }),
		timeField("start_at", func(m *data.Market) *time.Time { return &m.StartAt }),
		timeField("end_at", func(m *data.Market) *time.Time { return &m.EndAt }),
		timeField("game_start_at", func(m *data.Market) *time.Time { return &m.GameStartAt }),
		closingField(),
		quoteField("best_bid", data.QuoteBidAsk, func(m *data.Market) []**data.Micro { return []**data.Micro{&m.BestBid, &m.BestAsk} }),
		quoteField("last_price", data.QuoteLast, func(m *data.Market) []**data.Micro { return []**data.Micro{&m.LastPrice} }),
		quoteField("liquidity", data.QuoteLiquidity, func(m *data.Market) []**data.Micro { return []**data.Micro{&m.Liquidity} }),
	}
	categoryAt, closedAt, closingAt = fieldAt("category"), fieldAt("closed"), fieldAt("closed_at")
	// ownFields are the fields before those of the quote.
	ownFields   = marketFields[:fieldAt("best_bid")]
	fieldPlaces = places()
)

func places() map[string]int {
	out := map[string]int{}
	for i, f := range marketFields {
		out[f.column] = i
	}
	return out
}

// fieldAt returns the index of a field, -1 if there is none.
func fieldAt(column string) int {
	return slices.IndexFunc(marketFields, func(f marketField) bool { return f.column == column })
}

func field[T any](column, rule string, of func(*data.Market) *T, said func(T) bool, compare func(a, b T) int) marketField {
	return marketField{column: column, rule: rule,
		said:    func(m *data.Market) bool { return said(*of(m)) },
		compare: func(a, b *data.Market) int { return compare(*of(a), *of(b)) },
		take:    func(to, from *data.Market) { *of(to) = *of(from) }}
}

func textField(column string, of func(*data.Market) *string) marketField {
	return field(column, "StandsScalar", of, func(s string) bool { return s != "" }, cmp.Compare[string])
}

func timeField(column string, of func(*data.Market) *time.Time) marketField {
	return field(column, "StandsScalar", of, func(t time.Time) bool { return !t.IsZero() }, time.Time.Compare)
}

func isThere[T any](p *T) bool { return p != nil }

func flagField(column string, of func(*data.Market) **bool) marketField {
	return field(column, "StandsScalar", of, isThere, func(a, b *bool) int {
		switch {
		case *a == *b:
			return 0
		case *a:
			return 1
		}
		return -1
	})
}

// compareMicros orders amounts; nil is the smallest.
func compareMicros(a, b *data.Micro) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Compare(*a, *b)
}

// listField is a list. A longer one is the larger, because a truncated file has fewer outcomes.
// Lists of equal length are compared by their JSON, like in the database.
func listField[T any](column string, of func(*data.Market) *[]T) marketField {
	return field(column, "StandsList", of, func(l []T) bool { return len(l) > 0 }, func(a, b []T) int {
		if len(a) != len(b) {
			return cmp.Compare(len(a), len(b))
		}
		mine, _ := json.Marshal(a) // an error occurs again when the row is staged
		other, _ := json.Marshal(b)
		return strings.Compare(string(mine), string(other))
	})
}

// A category and its origin are one field. The origin takes precedence over the version, because a
// record without tags has less information.
func categoryField() marketField {
	f := field("category", "StandsCategory", func(m *data.Market) *string { return &m.Category }, func(s string) bool { return s != "" }, cmp.Compare[string])
	f.take = func(to, from *data.Market) { to.Category, to.CategorySource = from.Category, from.CategorySource }
	return f
}

// categoryRank is the rank of a category's origin.
func categoryRank(m *data.Market) int {
	return slices.Index([]string{"slug", "field", "tag"}, m.CategorySource) + 1
}

// closingField is the time of closing. A record of an open market says that there is none.
func closingField() marketField {
	f := timeField("closed_at", func(m *data.Market) *time.Time { return &m.ClosedAt })
	f.rule = "StandsClosing"
	f.said = func(m *data.Market) bool { return !m.ClosedAt.IsZero() || m.Closed != nil && !*m.Closed }
	return f
}

// quoteField is a group of fields of a quote. All records except for trades have it, if their page
// has these fields at all.
func quoteField(column string, fields data.QuoteFields, sides func(*data.Market) []**data.Micro) marketField {
	return marketField{column: column,
		said: func(m *data.Market) bool { return !m.Stub && m.Lacks&fields == 0 },
		compare: func(a, b *data.Market) int {
			mine, other := sides(a), sides(b)
			for i := range mine {
				if c := compareMicros(*mine[i], *other[i]); c != 0 {
					return c
				}
			}
			return 0
		},
		take: func(to, from *data.Market) {
			source := sides(from)
			for i, side := range sides(to) {
				*side = *source[i]
			}
		}}
}
