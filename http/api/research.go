package api

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"pmx/data/datasets"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

func researchRoutes() []Route {
	return []Route{{
		Method: fiber.MethodGet, Path: "/research/datasets", Section: wire.Research,
		Summary: "Datasets that can be exported, column by column", serve: (*API).datasets, Reply: wire.Catalogue{},
		Doc: "Every plan may read the catalogue. Files of the datasets are made by export jobs, which are for the plans `trader` and `alpha`.",
	}}
}

// datasets answers GET /research/datasets.
func (a *API) datasets(c *fiber.Ctx, call *Call) error {
	v, err := a.ready()
	if err != nil {
		return err
	}
	mark, start := a.object(call, v.asOf)
	b := append(call.buf, '[')
	for i, d := range datasets.All() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendDataset(b, &d, approximateRows(v.snap, d.ID))
	}
	call.buf = append(b, ']')
	return a.finish(c, call, mark, start, a.untilRefresh(call))
}

// approximateRows is how many rows a dataset has, give or take the venue's own
// wallets; -1 where that is not known.
func approximateRows(snap *serving.Snapshot, id string) int64 {
	switch id {
	case "markets":
		return snap.Counts.Markets
	case "trader_leaderboard", "wallet_pnl":
		return snap.Counts.Wallets
	}
	return -1
}

// appendDataset writes wire.Dataset.
func appendDataset(b []byte, d *datasets.Dataset, rows int64) []byte {
	b = appendString(append(b, `{"id":`...), d.ID)
	b = appendString(append(b, `,"title":`...), d.Title)
	b = appendString(append(b, `,"description":`...), d.Description)
	b = strconv.AppendInt(append(b, `,"max_rows":`...), datasets.MaxRows, 10)
	b = appendTexts(append(b, `,"formats":`...), d.Formats)
	b = appendTexts(append(b, `,"periods":`...), d.Periods)
	b = appendString(append(b, `,"order":`...), d.Order)
	b = append(b, `,"approximate_rows":`...)
	if rows < 0 {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, rows, 10)
	}
	b = appendString(append(b, `,"method":`...), d.Method)
	b = append(b, `,"columns":[`...)
	for i, col := range d.Columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, `{"name":`...), col.Name)
		b = appendString(append(b, `,"type":`...), string(col.Type))
		b = appendText(append(b, `,"unit":`...), string(col.Unit))
		b = append(appendString(append(b, `,"meaning":`...), col.Meaning), '}')
	}
	return append(b, "]}"...)
}
