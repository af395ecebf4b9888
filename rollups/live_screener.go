package rollups

import (
	"context"
	"database/sql"

	"pmx/rollups/serving"
)

// screenerVertical is search and the screener, made from the catalog alone.
func screenerVertical() vertical {
	return vertical{section: func() section { return &screenerSection{builder: serving.NewScreenerBuilder()} }}
}

type screenerSection struct{ builder *serving.ScreenerBuilder }

// begin starts to index the titles while the rest is loaded.
func (p *screenerSection) begin(l *Live) (wait func()) {
	var markets []*serving.Market
	for _, id := range l.catalog.Changed() {
		markets = append(markets, l.catalog.Market(id))
	}
	return p.builder.Begin(markets)
}

func (p *screenerSection) follow(context.Context, *sql.Conn, *Live, func(table) string, bool) error {
	return nil
}

func (p *screenerSection) publish(_ context.Context, _ *sql.Conn, _ *Live, snap *serving.Snapshot) error {
	snap.Screener = p.builder.Next(snap.Catalog)
	return nil
}

func (*screenerSection) needsOnlyCatalog() {}
