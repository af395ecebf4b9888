package rollups

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"pmx/data"
	"pmx/engine"
	"pmx/rollups/serving"
)

// loadCatalog reads every market that the condition which picks, "true" for all.
func (l *Live) loadCatalog(ctx context.Context, conn *sql.Conn, which string) error {
	query := statements.Get("LoadMarkets", "@which", which)
	err := engine.Each(ctx, conn, query, func(row []driver.Value) error {
		m, err := l.interned.market(row)
		if err != nil {
			return err
		}
		l.catalog.Set(m)
		if m.Resolved() && m.ResolvedTS > l.state.asOf-windows[serving.Day] {
			l.recentlyResolved.add(m.ResolvedTS, m.ID)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	return nil
}

// maxInterned bounds what the interner remembers of each kind: most lists and labels are
// among the first, and those that are not are kept once all the same.
const maxInterned = 1 << 16

// interner lets markets share what is the same for many of them.
type interner struct {
	words   map[string]string
	lists   map[string][]string
	amounts map[string][]data.Micro
	yes, no *bool
}

func newInterner() interner {
	yes, no := true, false
	return interner{words: map[string]string{}, lists: map[string][]string{}, amounts: map[string][]data.Micro{}, yes: &yes, no: &no}
}

// market takes a row of LoadMarkets.
func (t *interner) market(row []driver.Value) (*serving.Market, error) {
	m := &serving.Market{ID: int32(engine.Int(row[0])), Question: engine.Text(row[2]), Slug: engine.Text(row[3]),
		EventID: engine.Text(row[4]), EventSlug: engine.Text(row[5]), EventTitle: engine.Text(row[6]),
		SeriesSlug: t.word(engine.Text(row[7])), Category: t.word(engine.Text(row[8])),
		NegRisk: t.flag(row[13]), Active: t.flag(row[14]), Closed: t.flag(row[15]), AcceptingOrders: t.flag(row[16]),
		BestBid: micro(row[17]), BestAsk: micro(row[18]), LastPrice: micro(row[19]), Liquidity: micro(row[20]),
		ReportedVolume: micro(row[21]), CreatedTS: engine.Int(row[22]), StartTS: engine.Int(row[23]), EndTS: engine.Int(row[24]),
		ClosedTS: engine.Int(row[25]), ResolvedTS: engine.Int(row[26]), UpdatedTS: engine.Int(row[27]),
		ResolvedBy: data.TimeSource(engine.Int(row[28]))}
	copy(m.Condition[:], row[1].([]byte))
	for i, dst := range []*[]string{&m.Tags, &m.Outcomes} {
		if err := shareList(t.lists, engine.Text(row[9+i]), dst); err != nil {
			return nil, fmt.Errorf("market %s: %w", m.Condition, err)
		}
	}
	if err := shareList(t.amounts, engine.Text(row[11]), &m.Prices); err != nil {
		return nil, fmt.Errorf("market %s: %w", m.Condition, err)
	}
	return m, t.payouts(engine.Text(row[12]), m)
}

// payouts reads a list of whole millionths.
func (t *interner) payouts(text string, m *serving.Market) error {
	key := "payouts " + text
	if known, ok := t.amounts[key]; ok || text == "" {
		m.Payouts = known
		return nil
	}
	var whole []int64
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		return fmt.Errorf("market %s: %w", m.Condition, err)
	}
	for _, p := range whole {
		m.Payouts = append(m.Payouts, data.Micro(p))
	}
	if len(t.amounts) < maxInterned {
		t.amounts[key] = m.Payouts
	}
	return nil
}

// shareList gives the list that a JSON text says, the same one for equal texts.
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

func (t *interner) flag(v driver.Value) *bool {
	b, ok := v.(bool)
	switch {
	case !ok:
		return nil
	case b:
		return t.yes
	}
	return t.no
}

func micro(v driver.Value) *data.Micro {
	if v == nil {
		return nil
	}
	m := data.Micro(engine.Int(v))
	return &m
}
