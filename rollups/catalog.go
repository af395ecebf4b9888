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
		m, err := readMarket(row)
		if err != nil {
			return err
		}
		for int(m.ID) >= len(l.markets) {
			l.markets = append(l.markets, nil)
		}
		l.markets[m.ID] = m
		return nil
	})
	if err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	return nil
}

// catalog is the catalog as it is now.
func (l *Live) catalog() *serving.Catalog {
	tokens := make([]serving.TokenRef, len(l.tokens))
	for i := range l.tokens {
		tokens[i] = serving.TokenRef{Market: l.tokens[i].market, Outcome: l.tokens[i].outcome, ID: l.tokens[i].id}
	}
	return serving.NewCatalog(append([]*serving.Market(nil), l.markets...), tokens)
}

// readMarket takes a row of LoadMarkets.
func readMarket(row []driver.Value) (*serving.Market, error) {
	m := &serving.Market{ID: int32(engine.Int(row[0])), Question: engine.Text(row[2]), Slug: engine.Text(row[3]),
		EventID: engine.Text(row[4]), EventSlug: engine.Text(row[5]), EventTitle: engine.Text(row[6]),
		SeriesSlug: engine.Text(row[7]), Category: engine.Text(row[8]),
		NegRisk: flag(row[13]), Active: flag(row[14]), Closed: flag(row[15]), AcceptingOrders: flag(row[16]),
		BestBid: micro(row[17]), BestAsk: micro(row[18]), LastPrice: micro(row[19]), Liquidity: micro(row[20]),
		ReportedVolume: micro(row[21]), CreatedTS: engine.Int(row[22]), StartTS: engine.Int(row[23]), EndTS: engine.Int(row[24]),
		ClosedTS: engine.Int(row[25]), ResolvedTS: engine.Int(row[26]), UpdatedTS: engine.Int(row[27])}
	copy(m.Condition[:], row[1].([]byte))
	var payouts []int64
	for i, list := range []any{&m.Tags, &m.Outcomes, &m.Prices, &payouts} {
		text := engine.Text(row[9+i])
		if text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(text), list); err != nil {
			return nil, fmt.Errorf("market %s: %w", m.Condition, err)
		}
	}
	for _, p := range payouts {
		m.Payouts = append(m.Payouts, data.Micro(p))
	}
	return m, nil
}

func flag(v driver.Value) *bool {
	b, ok := v.(bool)
	if !ok {
		return nil
	}
	return &b
}

func micro(v driver.Value) *data.Micro {
	if v == nil {
		return nil
	}
	m := data.Micro(engine.Int(v))
	return &m
}
