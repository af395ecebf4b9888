package api

import (
	"strconv"
	"sync"

	"github.com/gofiber/fiber/v2"

	"pmx/data/datasets"
	"pmx/http/wire"
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
	v, err := a.current()
	if err != nil {
		return err
	}
	o := &v.research
	o.once.Do(func() { o.encode(v.appendCatalogue([]byte(`,"data":`))) })
	return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, envelope{tier: call.tier, maxRows: noRows}))
}

// catalogueBody is the catalogue of one snapshot.
type catalogueBody struct {
	objectBody
	once sync.Once
}

// appendCatalogue writes the data of wire.Catalogue.
func (v *encodedSnapshot) appendCatalogue(b []byte) []byte {
	rows := map[string]int64{
		"markets": v.snap.Counts.Markets, "trader_leaderboard": v.snap.Counts.Wallets, "wallet_pnl": v.snap.Counts.Wallets,
		"oracle_accuracy": int64(v.snap.Oracle.Ranking(1, 1).Total),
	}
	all := datasets.All()
	return appendRows(b, len(all), func(b []byte, i int) []byte { return appendDataset(b, &all[i], rows[all[i].ID]) })
}

// appendDataset writes wire.Dataset. rows takes the venue's own wallets along.
func appendDataset(b []byte, d *datasets.Dataset, rows int64) []byte {
	b = appendString(append(b, `{"id":`...), d.ID)
	b = appendString(append(b, `,"title":`...), d.Title)
	b = appendString(append(b, `,"description":`...), d.Description)
	b = strconv.AppendInt(append(b, `,"max_rows":`...), datasets.MaxRows, 10)
	b = appendTexts(append(b, `,"formats":`...), d.Formats)
	b = appendTexts(append(b, `,"periods":`...), d.Periods)
	b = appendString(append(b, `,"order":`...), d.Order)
	b = strconv.AppendInt(append(b, `,"approximate_rows":`...), rows, 10)
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
