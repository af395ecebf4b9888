package rollups

import (
	"context"
	"database/sql"

	"pmx/rollups/serving"
)

// screenerVertical is search and the screener: made of the catalog alone.
func screenerVertical() vertical {
	return vertical{product: func() product { return &screenerProduct{builder: serving.NewScreenerBuilder()} }}
}

type screenerProduct struct{ builder *serving.ScreenerBuilder }

// begin has the titles read while the rest is loaded.
func (p *screenerProduct) begin(l *Live) (wait func()) {
	var markets []*serving.Market
	for _, id := range l.catalog.Changed() {
		markets = append(markets, l.catalog.Market(id))
	}
	return p.builder.Begin(markets)
}

func (p *screenerProduct) follow(context.Context, *sql.Conn, *Live, func(table) string, bool) error {
	return nil
}

func (p *screenerProduct) publish(_ context.Context, _ *sql.Conn, _ *Live, snap *serving.Snapshot) error {
	snap.Screener = p.builder.Next(snap.Catalog)
	return nil
}
