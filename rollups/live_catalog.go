package rollups

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"pmx/data"
	"pmx/engine"
	"pmx/rollups/serving"
)

// loadCatalog reads the markets that meet the condition which; "true" for all.
func (l *Live) loadCatalog(ctx context.Context, conn *sql.Conn, which string) error {
	query := statements.Get("LoadMarkets", "@which", which)
	var markets []*serving.Market
	err := engine.EachRow(ctx, conn, query, func(row *marketRow) error {
		m, err := l.interned.market(row)
		markets = append(markets, m)
		return err
	})
	if err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	slices.SortFunc(markets, func(a, b *serving.Market) int { return cmp.Compare(a.ID, b.ID) })
	for _, m := range markets {
		l.catalog.Set(m)
		if m.Resolved() && m.ResolvedTS > l.progress.asOf-windows[serving.Day] {
			l.recentlyResolved.add(m.ResolvedTS, m.ID)
		}
	}
	return nil
}

// maxInterned bounds how many values of each kind the interner remembers: most lists and labels are
// among the first, and the others are kept without sharing.
const maxInterned = 1 << 16

// interner lets markets share equal lists and labels.
type interner struct {
	words   map[string]string
	lists   map[string][]string
	amounts map[string][]data.Micro
}

func newInterner() interner {
	return interner{words: map[string]string{}, lists: map[string][]string{}, amounts: map[string][]data.Micro{}}
}

// marketRow is a row of LoadMarkets. Lists are JSON; payouts are whole millionths.
type marketRow struct {
	Market          int32           `sql:"market"`
	Condition       data.Hash       `sql:"condition"`
	Question        string          `sql:"question,null"`
	Slug            string          `sql:"slug,null"`
	EventID         string          `sql:"event_id,null"`
	EventSlug       string          `sql:"event_slug,null"`
	EventTitle      string          `sql:"event_title,null"`
	SeriesSlug      string          `sql:"series_slug,null"`
	Category        string          `sql:"category,null"`
	Tags            string          `sql:"tags,null"`
	Outcomes        string          `sql:"outcomes,null"`
	Prices          string          `sql:"prices,null"`
	Payouts         string          `sql:"payouts,null"`
	NegRisk         *bool           `sql:"neg_risk"`
	Active          *bool           `sql:"active"`
	Closed          *bool           `sql:"closed"`
	AcceptingOrders *bool           `sql:"accepting_orders"`
	BestBid         *data.Micro     `sql:"best_bid"`
	BestAsk         *data.Micro     `sql:"best_ask"`
	LastPrice       *data.Micro     `sql:"last_price"`
	QuotedAt        int64           `sql:"quoted_at,null"`
	Liquidity       *data.Micro     `sql:"liquidity"`
	ReportedVolume  *data.Micro     `sql:"reported_volume"`
	CreatedAt       int64           `sql:"created_at,null"`
	StartAt         int64           `sql:"start_at,null"`
	EndAt           int64           `sql:"end_at,null"`
	ClosedAt        int64           `sql:"closed_at,null"`
	ResolvedAt      int64           `sql:"resolved_at,null"`
	UpdatedAt       int64           `sql:"updated_at,null"`
	ResolvedBy      data.TimeSource `sql:"resolved_at_source,null"`
}

// market takes a row of LoadMarkets.
func (t *interner) market(row *marketRow) (*serving.Market, error) {
	m := &serving.Market{ID: row.Market, Condition: row.Condition, Question: row.Question, Slug: row.Slug,
		EventID: row.EventID, EventSlug: row.EventSlug, EventTitle: row.EventTitle,
		SeriesSlug: t.word(row.SeriesSlug), Category: t.word(row.Category),
		NegRisk: row.NegRisk, Active: row.Active, Closed: row.Closed, AcceptingOrders: row.AcceptingOrders,
		BestBid: row.BestBid, BestAsk: row.BestAsk, LastPrice: row.LastPrice, Liquidity: row.Liquidity,
		ReportedVolume: row.ReportedVolume, CreatedTS: row.CreatedAt, StartTS: row.StartAt, EndTS: row.EndAt,
		ClosedTS: row.ClosedAt, ResolvedTS: row.ResolvedAt, UpdatedTS: row.UpdatedAt, QuotedTS: row.QuotedAt, ResolvedBy: row.ResolvedBy}
	err := errors.Join(shareList(t.lists, row.Tags, &m.Tags), shareList(t.lists, row.Outcomes, &m.Outcomes),
		shareList(t.amounts, row.Prices, &m.Prices), t.payouts(row.Payouts, m))
	if err != nil {
		return nil, fmt.Errorf("market %s: %w", m.Condition, err)
	}
	return m, nil
}

// payouts reads a list of whole millionths.
func (t *interner) payouts(text string, m *serving.Market) error {
	var room [64]byte
	key := append(append(room[:0], "payouts "...), text...)
	if known, ok := t.amounts[string(key)]; ok || text == "" {
		m.Payouts = known
		return nil
	}
	var whole []int64
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		return err
	}
	for _, p := range whole {
		m.Payouts = append(m.Payouts, data.Micro(p))
	}
	if len(t.amounts) < maxInterned {
		t.amounts[string(key)] = m.Payouts
	}
	return nil
}

// shareList decodes a JSON list into dst, sharing one list among equal texts.
func shareList[T any](known map[string][]T, text string, dst *[]T) error {
	if list, ok := known[text]; ok || text == "" {
		*dst = list
		return nil
	}
	if err := json.Unmarshal([]byte(text), dst); err != nil {
		return err
	}
	if len(known) < maxInterned {
		known[text] = *dst
	}
	return nil
}

func (t *interner) word(s string) string {
	if known, ok := t.words[s]; ok {
		return known
	}
	if len(t.words) < maxInterned {
		t.words[s] = s
	}
	return s
}
