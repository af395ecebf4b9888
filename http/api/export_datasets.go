package api

import (
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/data/datasets"
	"pmx/engine/export/job"
	"pmx/http/wire"
)

func researchRoutes() []Route {
	return []Route{{
		Method: fiber.MethodGet, Path: "/research/datasets", Section: wire.Research,
		Summary: "Datasets that can be exported, column by column", serve: (*API).datasets, Reply: wire.Catalogue{},
		Doc: "Every plan may read the catalogue. The files themselves are created by export jobs, which need the plan `trader` or `alpha`.",
	}}
}

// datasets answers GET /research/datasets.
func (a *API) datasets(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	o := &v.research
	o.once.Do(func() { o.encode(dataOf(v.catalogue())) })
	return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, envelope{tier: call.tier, maxRows: noRows}))
}

// catalogueBody is the catalogue of one snapshot.
type catalogueBody struct {
	objectBody
	once sync.Once
}

// catalogue is the data of wire.Catalogue.
func (v *encodedSnapshot) catalogue() (list []wire.Dataset) {
	rows := map[string]int64{
		"markets": v.snap.Counts.Markets, "trader_leaderboard": v.snap.Counts.Wallets, "wallet_pnl": v.snap.Counts.Wallets,
		"oracle_accuracy": int64(v.snap.Oracle.Ranking(1, 1).Total),
	}
	for _, d := range datasets.All() {
		list = append(list, datasetOf(&d, rows[d.ID], v.snap.AsOf))
	}
	return list
}

// datasetOf describes a dataset as of a time. rows includes the venue's own wallets.
func datasetOf(d *datasets.Dataset, rows int64, asOf time.Time) wire.Dataset {
	out := wire.Dataset{ID: d.ID, Title: d.Title, Description: d.Description, MaxRows: datasets.MaxRows, Formats: d.Formats, Periods: d.Periods,
		Order: d.Order, ApproximateRows: rows, Method: d.Method}
	for _, format := range d.Formats {
		u := exportUsage(&job.Job{Result: job.Result{AsOf: asOf}, Request: job.Request{Kind: job.Research, Dataset: d.ID, Format: format}})
		out.Usage = append(out.Usage, wire.DatasetUsage{Format: format, FileName: u.FileName, DuckDB: u.DuckDB, Pandas: u.Pandas})
	}
	for _, c := range d.Columns {
		out.Columns = append(out.Columns, wire.DatasetColumn{Name: c.Name, Type: string(c.Type), Unit: textOrNull(string(c.Unit)), Meaning: c.Meaning})
	}
	return out
}
