package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"pmx/engine/control"
	"pmx/engine/export/job"
	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/openapi/check"
	"pmx/http/server"
	"pmx/http/wire"
)

// contents is what the fake exporter writes to every file.
var contents = bytes.Repeat([]byte("0123456789abcdef"), 10_000)

// writer is a job.Work whose files have contents.
type writer struct {
	begin chan struct{} // a job waits here before it is written
	fail  error
	asked chan job.Request
}

func (w *writer) Version(context.Context) (string, error) { return "v1", nil }

func (w *writer) WriteJob(ctx context.Context, r job.Request, path string, progress func(float64)) (job.Result, error) {
	progress(0.5)
	w.asked <- r
	select {
	case <-w.begin:
	case <-ctx.Done():
		return job.Result{}, ctx.Err()
	}
	if w.fail != nil {
		return job.Result{}, w.fail
	}
	sum := sha256.Sum256(contents)
	return job.Result{Rows: 7, Bytes: int64(len(contents)), SHA256: hex.EncodeToString(sum[:]), AsOf: apitest.AsOf, Version: "v1", Truncated: true},
		os.WriteFile(path, contents, 0o600)
}

func (w *writer) Explain(error) job.Failure {
	return job.Failure{Code: "disk_full", Detail: "The server had no room for this file."}
}

// exporter is a venue with exports that listens on a socket.
type exporter struct {
	*venue
	writer  *writer
	ended   chan struct{} // receives a value for every job that ends
	release func()        // allows jobs to be written
	url     string
}

func newExporter(t *testing.T, limits job.Limits) *exporter {
	t.Helper()
	v := &exporter{venue: newVenue(t, apitest.Snapshot(1, 10, 1)), writer: &writer{begin: make(chan struct{}), asked: make(chan job.Request, 100)}}
	store, err := control.Open(t.Context(), filepath.Join(t.TempDir(), "control.db"), v.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	for tier, secret := range v.keys {
		if _, err := store.IssueKey(t.Context(), sha256.Sum256([]byte(secret)), tier.String(), "test"); err != nil {
			t.Fatal(err)
		}
	}
	v.ended, v.release = make(chan struct{}, 100), sync.OnceFunc(func() { close(v.writer.begin) })
	pool := job.NewPool(job.Config{Store: listened{store, v.ended}, Work: v.writer, Dir: t.TempDir(), Now: v.clock.Now, Log: zerolog.Nop(), Limits: limits})
	v.api, err = api.New(api.Config{Source: v.source, Gate: v.gate, Exports: pool, Version: "v1", CursorKey: make([]byte, 32), Now: v.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(server.Config{API: v.api, Listen: "127.0.0.1:0", Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	v.handler, v.url = check.Handler(t, srv.Handler()), srv.URL()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- srv.Serve(ctx) }()
	go func() { ended <- pool.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, <-ended); err != nil {
			t.Error(err)
		}
	})
	return v
}

// ask sends a request with a JSON body as tier.
func (v *exporter) ask(tier access.Tier, method, path, body string, headers ...string) reply {
	v.t.Helper()
	req := &fasthttp.Request{}
	req.Header.SetMethod(method)
	req.SetRequestURI(wire.Base + path)
	req.Header.SetHost("pmx.test")
	req.Header.Set(wire.KeyHeader, v.keys[tier])
	if body != "" {
		req.Header.SetContentType("application/json")
		req.SetBodyString(body)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res := apitest.Do(v.handler, req, nil)
	r := reply{Response: res, status: res.StatusCode()}
	if err := json.Unmarshal(res.Body(), &r.body); err != nil {
		v.t.Fatalf("%s %s: err = %v, body = %s", method, path, err, res.Body())
	}
	return r
}

func jobOf(t *testing.T, r reply) wire.ExportJob {
	t.Helper()
	if r.status != 200 {
		t.Fatalf("status %d: body = %s", r.status, r.Body())
	}
	return exact[wire.One[wire.ExportJob]](t, r.Body()).Data
}

// made creates an export, allows it to be written, and waits until it has the status.
func (v *exporter) made(path, body string, want string) wire.ExportJob {
	v.t.Helper()
	t := v.t.(*testing.T)
	v.release()
	j := jobOf(t, v.ask(access.Trader, "POST", path, body))
	for kind := strings.Split(path, "/")[1]; j.Status != want; {
		if j.Status != "queued" && j.Status != "running" {
			t.Fatalf("job is %s, want %s", j.Status, want)
		}
		<-v.ended
		j = jobOf(t, v.ask(access.Trader, "GET", "/"+kind+"/export-jobs/"+j.JobID, ""))
	}
	return j
}

// listened is a store that signals when a job has ended.
type listened struct {
	*control.DB
	ended chan struct{}
}

func (l listened) EndJob(ctx context.Context, j job.Job) (bool, error) {
	ok, err := l.DB.EndJob(ctx, j)
	l.ended <- struct{}{}
	return ok, err
}

const markets = `{"dataset":"markets","format":"parquet","period":"all"}`

func TestExportJobFromRequestToFile(t *testing.T) {
	v := newExporter(t, job.Limits{})
	j := jobOf(t, v.ask(access.Trader, "POST", "/research/export-jobs", markets))
	if j.Kind != "research" || *j.Dataset != "markets" || j.Address != nil || j.Format != "parquet" || j.Period != "all" ||
		j.Status != "queued" || j.Progress != 0 || j.Rows != nil || j.DownloadURL != nil || j.Usage != nil || j.Error != nil || j.ExpiresAt != nil {
		t.Errorf("created: %+v", j)
	}
	if r := <-v.writer.asked; r != (job.Request{Kind: job.Research, Dataset: "markets", Format: "parquet", Period: "all"}) {
		t.Errorf("the work is %+v", r)
	}
	path := "/research/export-jobs/" + j.JobID
	if now := jobOf(t, v.ask(access.Trader, "GET", path, "")); now.Status != "running" || now.Progress != 500_000 || now.StartedAt == nil {
		t.Errorf("under way: %+v", now)
	}
	if r := v.ask(access.Trader, "GET", path+"/download", ""); r.status != 409 || r.text("code") != `"export_not_ready"` {
		t.Errorf("download of a running job: %d %s", r.status, r.Body())
	}
	j = v.made("/research/export-jobs", markets, "done") // another job of the same file
	if *j.Rows != 7 || *j.Bytes != 160_000 || len(*j.SHA256) != 64 || !j.Truncated || j.Progress != 1_000_000 ||
		!j.AsOf.Equal(apitest.AsOf.Truncate(time.Second)) || j.ExpiresAt.Sub(*j.FinishedAt) != 24*time.Hour {
		t.Errorf("done: %+v", j)
	}
	if *j.DownloadURL != wire.Base+"/research/export-jobs/"+j.JobID+"/download" {
		t.Errorf("download_url is %s", *j.DownloadURL)
	}
	if want := "SELECT * FROM read_parquet('pmx-markets-20260314T150926Z.parquet') LIMIT 10;"; j.Usage.DuckDB != want {
		t.Errorf("DuckDB: %s", j.Usage.DuckDB)
	}
	if want := "import pandas; markets = pandas.read_parquet('pmx-markets-20260314T150926Z.parquet')"; j.Usage.Pandas != want {
		t.Errorf("pandas: %s", j.Usage.Pandas)
	}
	known := exact[wire.Catalogue](t, v.get(access.Alpha, "/research/datasets").Body()).Data[0]
	if want := (wire.DatasetUsage{Format: j.Format, FileName: j.Usage.FileName, DuckDB: j.Usage.DuckDB, Pandas: j.Usage.Pandas}); known.ID != "markets" || !slices.Contains(known.Usage, want) {
		t.Errorf("the catalogue says %+v of %s, the job %+v", known.Usage, known.ID, want)
	}
}

// A reader of CSV takes names such as 007 and NA for numbers and nulls, unless it knows which columns are text.
func TestUsageOfCSVKeepsNames(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	for _, d := range exact[wire.Catalogue](t, v.get(access.Alpha, "/research/datasets").Body()).Data {
		i := slices.IndexFunc(d.Usage, func(u wire.DatasetUsage) bool { return u.Format == "csv" })
		pandas, duck := d.Usage[i].Pandas, d.Usage[i].DuckDB
		for _, c := range d.Columns {
			if (c.Type == "text") != strings.Contains(pandas, "'"+c.Name+"': str") || (c.Type == "text") != strings.Contains(duck, "'"+c.Name+"': 'VARCHAR'") {
				t.Errorf("%s %s is %s: %s, %s", d.ID, c.Name, c.Type, pandas, duck)
			}
		}
		if !strings.Contains(pandas, ", keep_default_na=False, na_values=['']") || !strings.Contains(duck, ", allow_quoted_nulls=false") {
			t.Errorf("%s: %s, %s", d.ID, pandas, duck)
		}
	}
}

func TestTraderExportJob(t *testing.T) {
	v := newExporter(t, job.Limits{})
	wallet := apitest.Wallet(1).String()
	path := "/trader/" + strings.ToUpper(wallet) + "/export-jobs"
	j := jobOf(t, v.ask(access.Trader, "POST", path, ""))
	if j.Kind != "trader" || j.Dataset != nil || *j.Address != wallet || j.Format != "parquet" {
		t.Errorf("created: %+v", j)
	}
	if r := <-v.writer.asked; r != (job.Request{Kind: job.Trader, Address: wallet, Format: "parquet", Period: "all", HistoryDays: 365}) {
		t.Errorf("the work is %+v", r)
	}
	j = v.made(path, `{"format":"csv"}`, "done")
	if j.Format != "csv" || j.Usage.FileName != "pmx-trader-"+wallet+"-20260314T150926Z-csv.zip" || !strings.Contains(j.Usage.Pandas, "open('trades.csv'), dtype={'transaction_hash': str, 'condition_id': str, 'question': str, 'slug': str, 'event_id': str, 'event_slug': str, "+
		"'outcome': str, 'token_id': str, 'side': str, 'role': str, 'fee_asset': str}, keep_default_na=False, na_values=[''], parse_dates=['ts'])") ||
		!strings.HasPrefix(j.Usage.DuckDB, "SELECT * FROM read_csv('trades.csv', types={'transaction_hash': 'VARCHAR', 'condition_id': 'VARCHAR', ") ||
		!strings.Contains(j.Usage.DuckDB, ", 'fee_asset': 'VARCHAR'}, allow_quoted_nulls=false) LIMIT 10; -- after: unzip ") ||
		*j.DownloadURL != wire.Base+"/trader/export-jobs/"+j.JobID+"/download" {
		t.Errorf("done: %+v %+v", j, j.Usage)
	}
	if r := v.ask(access.Trader, "GET", "/research/export-jobs/"+j.JobID, ""); r.status != 404 || r.text("code") != `"job_not_found"` {
		t.Errorf("by the other path: %d %s", r.status, r.Body())
	}
	if r := v.ask(access.Trader, "POST", "/trader/"+apitest.Wallet(99).String()+"/export-jobs", ""); r.status != 404 || r.text("code") != `"trader_not_found"` {
		t.Errorf("of an unknown wallet: %d %s", r.status, r.Body())
	}
}

// Plans without export get the name of one that has it, and no job is created.
func TestExportsAreForPaidPlans(t *testing.T) {
	v := newExporter(t, job.Limits{})
	for _, tier := range []access.Tier{access.Free, access.Explorer} {
		for _, path := range []string{"/research/export-jobs", "/trader/" + apitest.Wallet(1).String() + "/export-jobs"} {
			body := markets
			if strings.HasPrefix(path, "/trader") {
				body = ""
			}
			r := v.ask(tier, "POST", path, body)
			got := exact[wire.One[*wire.ExportJob]](t, r.Body())
			if r.status != 200 || got.Data != nil || !got.Truncated || *got.LockReason != "plan_limit" || *got.UpgradeHint != "trader" {
				t.Errorf("%s %s: status = %d, body = %s", tier, path, r.status, r.Body())
			}
		}
	}
	select {
	case r := <-v.writer.asked:
		t.Errorf("a job was created: %+v", r)
	default:
	}
}

func TestExportRequestsAreStrict(t *testing.T) {
	v := newExporter(t, job.Limits{})
	cases := []struct{ body, kind, param, code string }{
		{`{"dataset":"opinions"}`, "", "dataset", "invalid_body"},
		{`{"format":"csv"}`, "", "dataset", "invalid_body"},
		{`{"dataset":"markets","format":"xlsx"}`, "", "format", "invalid_body"},
		{`{"dataset":"markets","period":"7d"}`, "", "period", "invalid_body"},
		{`{"dataset":"markets","limit":5}`, "", "limit", "invalid_body"},
		{`{"dataset":["markets"]}`, "", "dataset", "invalid_body"},
		{`dataset=markets`, "application/x-www-form-urlencoded", "", "unsupported_media_type"},
		{`{}{}`, "", "dataset", "invalid_body"},
	}
	for _, c := range cases {
		headers := []string{}
		if c.kind != "" {
			headers = append(headers, "Content-Type: "+c.kind)
		}
		r := v.ask(access.Trader, "POST", "/research/export-jobs", c.body, headers...)
		p := exact[wire.Problem](t, r.Body())
		if c.body == `{}{}` {
			c.param = ""
		}
		if p.Code != c.code || p.Param != c.param {
			t.Errorf("%s: %+v", c.body, p)
		}
	}
	if j := jobOf(t, v.ask(access.Trader, "POST", "/research/export-jobs", `{"dataset":"markets"}`)); j.Format != "parquet" || j.Period != "all" {
		t.Errorf("defaults: %+v", j)
	}
}

func TestExportsOfOthersAreNotFound(t *testing.T) {
	v := newExporter(t, job.Limits{})
	j := jobOf(t, v.ask(access.Trader, "POST", "/research/export-jobs", markets))
	path := "/research/export-jobs/" + j.JobID
	for _, c := range [][2]string{{"GET", path}, {"DELETE", path}, {"GET", path + "/download"}} {
		if r := v.ask(access.Alpha, c[0], c[1], ""); r.status != 404 || r.text("code") != `"job_not_found"` {
			t.Errorf("%s %s: status = %d, body = %s", c[0], c[1], r.status, r.Body())
		}
	}
	if now := jobOf(t, v.ask(access.Trader, "DELETE", path, "")); now.Status != "canceled" || now.FinishedAt == nil {
		t.Errorf("canceled: %+v", now)
	}
	if r := v.ask(access.Trader, "GET", path+"/download", ""); r.status != 409 || r.text("code") != `"export_canceled"` {
		t.Errorf("its file: %d %s", r.status, r.Body())
	}
}

func TestTooManyExportsAndRepeats(t *testing.T) {
	v := newExporter(t, job.Limits{PerKey: 2})
	first := jobOf(t, v.ask(access.Trader, "POST", "/research/export-jobs", markets, "Idempotency-Key: once"))
	again := jobOf(t, v.ask(access.Trader, "POST", "/research/export-jobs", markets, "Idempotency-Key: once"))
	if first.JobID != again.JobID {
		t.Errorf("the repeat made %s, the first %s", again.JobID, first.JobID)
	}
	if r := v.ask(access.Trader, "POST", "/research/export-jobs", `{"dataset":"wallet_pnl"}`, "Idempotency-Key: once"); r.status != 422 || r.text("code") != `"idempotency_key_reused"` {
		t.Errorf("another request: %d %s", r.status, r.Body())
	}
	jobOf(t, v.ask(access.Trader, "POST", "/research/export-jobs", `{"dataset":"wallet_pnl"}`))
	r := v.ask(access.Trader, "POST", "/research/export-jobs", `{"dataset":"trader_leaderboard"}`)
	if r.status != 429 || r.text("code") != `"too_many_jobs"` || r.header("Retry-After") == "" {
		t.Errorf("a third: %d %s", r.status, r.Body())
	}
	jobOf(t, v.ask(access.Alpha, "POST", "/research/export-jobs", `{"dataset":"trader_leaderboard"}`))
}

func TestFailedExports(t *testing.T) {
	v := newExporter(t, job.Limits{})
	v.writer.fail = errors.New("no space")
	j := v.made("/research/export-jobs", markets, "failed")
	if j.Error == nil || j.Error.Code != "disk_full" || j.Error.Detail == "" || j.DownloadURL != nil {
		t.Errorf("%+v", j)
	}
	if r := v.ask(access.Trader, "GET", "/research/export-jobs/"+j.JobID+"/download", ""); r.status != 409 || r.text("code") != `"export_failed"` {
		t.Errorf("its file: %d %s", r.status, r.Body())
	}
}

// fetch requests a file over the socket, like any HTTP client.
func (v *exporter) fetch(method, url string, headers ...string) (*http.Response, []byte) {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.url+url, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	req.Header.Set(wire.KeyHeader, v.keys[access.Trader])
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return res, body
}

func TestDownloads(t *testing.T) {
	v := newExporter(t, job.Limits{})
	j := v.made("/research/export-jobs", `{"dataset":"markets","format":"csv"}`, "done")
	res, body := v.fetch("GET", *j.DownloadURL)
	if res.StatusCode != 200 || !bytes.Equal(body, contents) || res.ContentLength != int64(len(contents)) {
		t.Fatalf("%s: %d bytes", res.Status, len(body))
	}
	for name, want := range map[string]string{
		"Etag": `"` + *j.SHA256 + `"`, "Accept-Ranges": "bytes", "Content-Type": "text/csv; charset=utf-8; header=present",
		"Content-Disposition": `attachment; filename="pmx-markets-20260314T150926Z.csv"`, "Vary": "X-API-Key", "Cache-Control": "private, max-age=86400",
		"Last-Modified": j.FinishedAt.Format(http.TimeFormat), "Content-Encoding": "",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if d := res.Header.Get("Content-Digest"); !strings.HasPrefix(d, "sha-256=:") || d != res.Header.Get("Repr-Digest") || res.Header.Get("Ratelimit") == "" {
		t.Errorf("headers: %v", res.Header)
	}
	res, body = v.fetch("HEAD", *j.DownloadURL)
	if res.StatusCode != 200 || len(body) > 0 || res.ContentLength != int64(len(contents)) {
		t.Errorf("HEAD: %s, %d bytes of %d", res.Status, len(body), res.ContentLength)
	}
	res, body = v.fetch("GET", *j.DownloadURL, `If-None-Match: W/"x", "`+*j.SHA256+`"`)
	if res.StatusCode != 304 || len(body) > 0 || res.Header.Get("Etag") == "" {
		t.Errorf("If-None-Match: %s", res.Status)
	}
	res, body = v.fetch("GET", *j.DownloadURL, "Accept-Encoding: gzip")
	if res.Header.Get("Content-Encoding") != "" || !bytes.Equal(body, contents) {
		t.Error("a file was compressed on the way")
	}
}

// The ranges of RFC 9110, section 14; size is 160,000.
func TestDownloadRanges(t *testing.T) {
	v := newExporter(t, job.Limits{})
	j := v.made("/research/export-jobs", markets, "done")
	tag, modified := `"`+*j.SHA256+`"`, j.FinishedAt.Format(http.TimeFormat)
	for _, c := range []struct {
		name, header, ifRange string
		status                int
		from, to              int
	}{
		{"the first byte", "bytes=0-0", "", 206, 0, 1},
		{"a piece", "bytes=100-299", "", 206, 100, 300},
		{"the rest", "bytes=159990-", "", 206, 159_990, 160_000},
		{"the last bytes", "bytes=-10", "", 206, 159_990, 160_000},
		{"more than there is", "bytes=159990-999999", "", 206, 159_990, 160_000},
		{"all as a suffix", "bytes=-999999", "", 206, 0, 160_000},
		{"after the end", "bytes=160000-", "", 416, 0, 0},
		{"no bytes of a suffix", "bytes=-0", "", 416, 0, 0},
		{"backwards", "bytes=5-4", "", 200, 0, 160_000},
		{"no numbers", "bytes=a-b", "", 200, 0, 160_000},
		{"signed", "bytes=+1-5", "", 200, 0, 160_000},
		{"nothing", "bytes=-", "", 200, 0, 160_000},
		{"another unit", "lines=1-5", "", 200, 0, 160_000},
		{"several", "bytes=0-1,5-6", "", 200, 0, 160_000},
		{"of this file", "bytes=100-", tag, 206, 100, 160_000},
		{"of another file", "bytes=100-", `"other"`, 200, 0, 160_000},
		{"by a weak tag", "bytes=100-", "W/" + tag, 200, 0, 160_000},
		{"of its time", "bytes=100-", modified, 206, 100, 160_000},
		{"of another time", "bytes=100-", "Sat, 14 Mar 2026 15:00:00 GMT", 200, 0, 160_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			headers := []string{"Range: " + c.header}
			if c.ifRange != "" {
				headers = append(headers, "If-Range: "+c.ifRange)
			}
			res, body := v.fetch("GET", *j.DownloadURL, headers...)
			if res.StatusCode != c.status {
				t.Fatalf("status %s: body = %s", res.Status, body[:min(len(body), 300)])
			}
			if c.status == 416 {
				if res.Header.Get("Content-Range") != "bytes */160000" || res.Header.Get("Content-Disposition") != "" {
					t.Errorf("headers: %v", res.Header)
				}
				return
			}
			if !bytes.Equal(body, contents[c.from:c.to]) || res.ContentLength != int64(c.to-c.from) {
				t.Errorf("got %d bytes, want %d to %d", len(body), c.from, c.to)
			}
			if whole := c.status == 200; whole != (res.Header.Get("Content-Digest") != "") || whole != (res.Header.Get("Content-Range") == "") {
				t.Errorf("headers: %v", res.Header)
			}
		})
	}
}

// A file that was removed, or whose job expired, is gone.
func TestRemovedFiles(t *testing.T) {
	v := newExporter(t, job.Limits{})
	j := v.made("/research/export-jobs", markets, "done")
	path := "/research/export-jobs/" + j.JobID
	if now := jobOf(t, v.ask(access.Trader, "DELETE", path, "")); now.Status != "expired" || now.DownloadURL != nil || *now.SHA256 != *j.SHA256 {
		t.Errorf("canceled: %+v", now)
	}
	if r := v.ask(access.Trader, "GET", path+"/download", ""); r.status != 410 || r.text("code") != `"export_expired"` {
		t.Errorf("its file: %d %s", r.status, r.Body())
	}
}

// A server without a queue refuses exports with the reason.
func TestNoExportsWithoutAQueue(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 10, 1))
	for _, path := range []string{"/research/export-jobs/x", "/trader/export-jobs/x/download"} {
		if r := v.get(access.Trader, path); r.status != 503 || r.text("code") != `"not_ready"` {
			t.Errorf("%s: status = %d, body = %s", path, r.status, r.Body())
		}
	}
}
