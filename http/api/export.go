package api

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/data/datasets"
	"pmx/engine/export/job"
	"pmx/http/access"
	"pmx/http/wire"
)

// Exports is what the API needs of the queue of export jobs. Jobs belong to the
// short id of a key, their owner.
type Exports interface {
	// Create adds a job: see job.Pool.
	Create(ctx context.Context, owner string, r job.Request, idempotencyKey string) (job.Job, error)
	// Job returns a job of that kind; job.ErrNotFound.
	Job(ctx context.Context, owner string, kind job.Kind, id string) (job.Job, error)
	// Cancel ends a job and returns it as it is afterwards; job.ErrNotFound.
	Cancel(ctx context.Context, owner string, kind job.Kind, id string) (job.Job, error)
	// Open opens the file of a done job; job.ErrGone.
	Open(j job.Job) (*os.File, error)
	// PerKey is how many jobs of one key may be queued or running.
	PerKey() int
}

const (
	parquetType = "application/vnd.apache.parquet"
	csvType     = "text/csv; charset=utf-8; header=present"
	zipType     = "application/zip"
)

// The parameters of the export endpoints.
var (
	exportJob            = &Param{Name: "job_id", InPath: true, Kind: Text, Min: 1, Max: 64, Doc: "job_id of the job"}
	researchExportRepeat = idempotencyParam()
	traderExportRepeat   = idempotencyParam()
)

// idempotencyParam makes a repeated request harmless.
func idempotencyParam() *Param {
	return &Param{Name: "Idempotency-Key", InHeader: true, Kind: Text, Min: 1, Max: 255,
		Doc: "any text of your choice; repeating the request with the same text returns the job that the first request created"}
}

const (
	createDoc = "The job is queued. Keys take turns: the next job is of the key that was served longest ago. If a file of the same request on the same " +
		"data still exists, the job is `done` at once and shares that file. Plans without export get `data: null` and no job."
	cancelDoc = "A queued or running job becomes `canceled`. The file of a job that is done is deleted, and the job becomes `expired`. Any other job is left unchanged."
	fileDoc   = "`ETag` is the file's SHA-256; `Repr-Digest` is the same in base64. `Range` and `If-Range` are supported, so " +
		"`curl -C -` and similar tools can resume an interrupted download."
)

func exportRoutes() []Route {
	routes := []Route{
		{
			Method: fiber.MethodPost, Path: "/research/export-jobs", Section: wire.Export, Summary: "Export a dataset as a file",
			serve: (*API).createResearchExport, Body: wire.ResearchExport{}, Params: []*Param{researchExportRepeat},
			Codes: []string{"too_many_jobs", "idempotency_key_reused"}, Doc: createDoc,
		},
		{
			Method: fiber.MethodPost, Path: "/trader/{address}/export-jobs", Section: wire.Export, Summary: "Export everything about a wallet as a zip",
			serve: (*API).createTraderExport, Body: wire.TraderExport{}, BodyOptional: true, Params: []*Param{traderAddress, traderExportRepeat},
			Codes: []string{"trader_not_found", "too_many_jobs", "idempotency_key_reused", "fills_elsewhere"},
			Doc: "The zip contains `stats`, `daily`, `markets`, `positions`, `trades` and a `manifest.json`. Days and trades go back as far " +
				"as the plan's history; lifetime figures always cover the whole lifetime. " + createDoc,
		},
	}
	routes[0].Reply, routes[1].Reply = wire.One[*wire.ExportJob]{}, wire.One[*wire.ExportJob]{}
	for _, k := range []struct {
		kind  job.Kind
		base  string
		media []string
	}{{job.Research, "/research/export-jobs", []string{parquetType, "text/csv"}}, {job.Trader, "/trader/export-jobs", []string{zipType}}} {
		base, params := k.base+"/{job_id}", []*Param{exportJob}
		routes = append(routes,
			Route{
				Method: fiber.MethodGet, Path: base, Section: wire.Export, Summary: "Status of an export job", Params: params,
				Reply: wire.One[wire.ExportJob]{}, Codes: []string{"job_not_found"}, serve: exportHandler(k.kind, (*API).exportStatus),
				Doc: "Poll, at most once per second, until `status` is `done`, `failed` or `canceled`.",
			},
			Route{
				Method: fiber.MethodDelete, Path: base, Section: wire.Export, Summary: "Cancel an export job, or delete its file", Params: params,
				Reply: wire.One[wire.ExportJob]{}, Codes: []string{"job_not_found"}, serve: exportHandler(k.kind, (*API).cancelExport), Doc: cancelDoc,
			},
			Route{
				Method: fiber.MethodGet, Path: base + "/download", Section: wire.Export, Summary: "File of a finished export job", Params: params,
				Media: k.media, serve: exportHandler(k.kind, (*API).downloadExport), Doc: fileDoc,
				Codes: []string{"job_not_found", "export_not_ready", "export_failed", "export_canceled", "export_expired", "range_not_satisfiable"},
			})
	}
	return routes
}

// exportHandler is the handler of one kind of jobs.
func exportHandler(kind job.Kind, serve func(a *API, c *fiber.Ctx, call *Call, kind job.Kind) error) func(a *API, c *fiber.Ctx, call *Call) error {
	return func(a *API, c *fiber.Ctx, call *Call) error { return serve(a, c, call, kind) }
}

// createResearchExport answers POST /research/export-jobs.
func (a *API) createResearchExport(c *fiber.Ctx, call *Call) error {
	body := wire.ResearchExport{}
	if _, bad := call.route.readBody(c, &body); bad != nil {
		return bad
	}
	var ids []string
	for _, d := range datasets.All() {
		ids = append(ids, d.ID)
	}
	r := job.Request{Kind: job.Research, Dataset: body.Dataset, Format: body.Format, Period: body.Period}
	for _, m := range []struct {
		name    string
		value   *string
		def     string
		choices []string
	}{{"dataset", &r.Dataset, "", ids}, {"format", &r.Format, "parquet", exportFormats()}, {"period", &r.Period, "all", []string{"all"}}} {
		if bad := checkChoice(m.name, m.value, m.def, m.choices); bad != nil {
			return bad
		}
	}
	return a.createExport(c, call, r, call.value(researchExportRepeat).text)
}

func exportFormats() []string { return []string{"parquet", "csv"} }

// checkChoice checks a member of a body that is one of choices; def stands for one
// that was left out.
func checkChoice(name string, value *string, def string, choices []string) *problem {
	if *value == "" {
		*value = def
	}
	if !slices.Contains(choices, *value) {
		return invalidBody(name, fmt.Sprintf("%s must be one of %s.", name, strings.Join(choices, ", ")))
	}
	return nil
}

// createTraderExport answers POST /trader/{address}/export-jobs.
func (a *API) createTraderExport(c *fiber.Ctx, call *Call) error {
	body := wire.TraderExport{}
	if _, bad := call.route.readBody(c, &body); bad != nil {
		return bad
	}
	if bad := checkChoice("format", &body.Format, "parquet", exportFormats()); bad != nil {
		return bad
	}
	v, err := a.current()
	if err != nil {
		return err
	}
	trader, err := v.trader(call.value(traderAddress).wallet())
	if err != nil {
		return err
	}
	return a.createExport(c, call, job.Request{
		Kind: job.Trader, Address: trader.Wallet.String(), Format: body.Format, Period: "all", HistoryDays: call.tier.Caps().HistoryDays,
	}, call.value(traderExportRepeat).text)
}

// createExport adds a job, or says which plan allows it.
func (a *API) createExport(c *fiber.Ctx, call *Call, r job.Request, idempotencyKey string) error {
	if !call.tier.Caps().Export {
		return a.sendJob(c, call, envelope{tier: call.tier, maxRows: noRows, trimmed: true, hint: access.Trader}, nil)
	}
	return a.withJob(c, call, func(ctx context.Context) (job.Job, error) {
		return a.exports.Create(ctx, call.KeyID(), r, idempotencyKey)
	})
}

// exportStatus answers GET …/export-jobs/{job_id}.
func (a *API) exportStatus(c *fiber.Ctx, call *Call, kind job.Kind) error {
	return a.withJob(c, call, func(ctx context.Context) (job.Job, error) {
		return a.exports.Job(ctx, call.KeyID(), kind, call.value(exportJob).text)
	})
}

// cancelExport answers DELETE …/export-jobs/{job_id}.
func (a *API) cancelExport(c *fiber.Ctx, call *Call, kind job.Kind) error {
	return a.withJob(c, call, func(ctx context.Context) (job.Job, error) {
		return a.exports.Cancel(ctx, call.KeyID(), kind, call.value(exportJob).text)
	})
}

// withJob answers with the job that f gives.
func (a *API) withJob(c *fiber.Ctx, call *Call, f func(ctx context.Context) (job.Job, error)) error {
	if a.exports == nil {
		return notReady("This server does not provide exports.", 60)
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	j, err := f(ctx)
	if err != nil {
		return a.exportProblem(err)
	}
	return a.sendJob(c, call, envelope{tier: call.tier, maxRows: noRows}, wireJob(&j))
}

// exportProblem is what a caller is shown about an error of the queue.
func (a *API) exportProblem(err error) error {
	switch {
	case errors.Is(err, job.ErrNotFound):
		return missing("job_not_found", "This key has no export job with this id at this path. Check the id and the path.")
	case errors.Is(err, job.ErrTooMany):
		return &problem{
			status: fiber.StatusTooManyRequests, code: "too_many_jobs", retry: tooManyRetry,
			detail: fmt.Sprintf("This key has %d export jobs waiting or running, which is the maximum. Wait until one is done, or cancel one.", a.exports.PerKey()),
		}
	case errors.Is(err, job.ErrReused):
		return &problem{
			status: fiber.StatusUnprocessableEntity, code: "idempotency_key_reused", param: "Idempotency-Key",
			detail: "This Idempotency-Key was already used for a different request. Use a new one.",
		}
	}
	return fmt.Errorf("export job: %w", err)
}

// tooManyRetry is the Retry-After, in seconds, of a key with too many jobs.
const tooManyRetry = 10

// sendJob answers with a job, null if the plan has no exports.
func (a *API) sendJob(c *fiber.Ctx, call *Call, e envelope, j *wire.ExportJob) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	mark, start := a.beginReply(call, v.asOf, e)
	call.buf = append(call.buf, dataOf(j)...)
	return a.finishReply(c, call, mark, start, 1)
}

// wireJob is j as a wire type.
func wireJob(j *job.Job) *wire.ExportJob {
	w := &wire.ExportJob{
		JobID: j.ID, Kind: string(j.Request.Kind), Dataset: textOrNull(j.Request.Dataset), Address: textOrNull(j.Request.Address),
		Format: j.Request.Format, Period: j.Request.Period, Status: string(j.Status), Truncated: j.Truncated,
		CreatedAt: wholeSeconds(j.Created), StartedAt: timeOrNull(j.Started), FinishedAt: timeOrNull(j.Finished),
		ExpiresAt: timeOrNull(j.Expires), AsOf: timeOrNull(j.AsOf),
	}
	if progress, err := data.MicroOf(j.Progress); err == nil {
		w.Progress = progress
	}
	switch j.Status {
	case job.Done:
		url := wire.Base + "/" + string(j.Request.Kind) + "/export-jobs/" + j.ID + "/download"
		w.DownloadURL, w.Usage = &url, exportUsage(j)
		fallthrough
	case job.Expired:
		w.Rows, w.Bytes, w.SHA256 = &j.Rows, &j.Bytes, &j.SHA256
	case job.Failed:
		w.Error = &wire.ExportError{Code: j.Code, Detail: j.Detail}
	}
	return w
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = wholeSeconds(t)
	return &t
}

func wholeSeconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// exportName is the name of a job's file for downloads.
func exportName(j *job.Job) string {
	at := "empty"
	if !j.AsOf.IsZero() {
		at = j.AsOf.UTC().Format("20060102T150405Z")
	}
	if j.Request.Kind == job.Trader {
		return "pmx-trader-" + j.Request.Address + "-" + at + "-" + j.Request.Format + ".zip"
	}
	return "pmx-" + j.Request.Dataset + "-" + at + "." + j.Request.Format
}

// exportUsage returns lines of code that read the file of a done job. CSV has no types: readers
// would take ids and names such as 007 for numbers, and pandas the name NA for a null.
func exportUsage(j *job.Job) *wire.ExportUsage {
	name := exportName(j)
	u := &wire.ExportUsage{FileName: name}
	read, file, duck, python := "read_"+j.Request.Format, name, "", ""
	if j.Request.Kind == job.Trader {
		file = "trades." + j.Request.Format
	}
	if j.Request.Format == string(data.CSV) {
		duck, python = csvTypes(j)
	}
	if file != name {
		u.Pandas = fmt.Sprintf("import pandas, zipfile; trades = pandas.%s(zipfile.ZipFile('%s').open('%s')%s)", read, name, file, python)
	} else {
		u.Pandas = fmt.Sprintf("import pandas; %s = pandas.%s('%s'%s)", j.Request.Dataset, read, file, python)
	}
	u.DuckDB = fmt.Sprintf("SELECT * FROM %s('%s'%s) LIMIT 10;", read, file, duck)
	if file != name {
		u.DuckDB += " -- after: unzip " + name
	}
	return u
}

// csvTypes returns what a reader of the job's CSV has to know about its columns, in the syntax of
// DuckDB and of pandas: which are text, that only an empty cell is null, and for pandas which are
// times.
func csvTypes(j *job.Job) (duck, python string) {
	var texts, times []string
	for _, c := range exportedColumns(j.Request) {
		switch c.Type {
		case datasets.Text:
			texts = append(texts, c.Name)
		case datasets.Timestamp:
			times = append(times, c.Name)
		}
	}
	duck = ", types={'" + strings.Join(texts, "': 'VARCHAR', '") + "': 'VARCHAR'}, allow_quoted_nulls=false"
	python = ", dtype={'" + strings.Join(texts, "': str, '") + "': str}, keep_default_na=False, na_values=['']"
	if len(times) > 0 {
		python += ", parse_dates=['" + strings.Join(times, "', '") + "']"
	}
	return duck, python
}

// exportedColumns returns the columns of the requested dataset, or of the trades of a wallet.
func exportedColumns(r job.Request) []datasets.Column {
	if d, ok := datasets.Find(r.Dataset); ok && r.Kind == job.Research {
		return d.Columns
	}
	return datasets.TraderTrades()
}
