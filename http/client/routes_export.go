// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.

package client

import (
	"context"
	"net/http"
	"net/url"

	"pmx/http/wire"
)

// CreateResearchExportJobsParams are the optional parameters of CreateResearchExportJobs; zero values are not sent.
type CreateResearchExportJobsParams struct {
	IdempotencyKey string // any text of your choice; repeating the request with the same text returns the job that the first request created
}

// CreateResearchExportJobs sends POST /research/export-jobs. Export a dataset as a file.
func (c *Client) CreateResearchExportJobs(ctx context.Context, body wire.ResearchExport, params CreateResearchExportJobsParams) (*wire.One[*wire.ExportJob], error) {
	r := request{method: "POST", path: "/research/export-jobs", query: url.Values{}, header: http.Header{}}
	set(url.Values(r.header), "Idempotency-Key", params.IdempotencyKey)
	r.body = body
	return call[wire.One[*wire.ExportJob]](ctx, c, r)
}

// CreateTraderExportJobsParams are the optional parameters of CreateTraderExportJobs; zero values are not sent.
type CreateTraderExportJobsParams struct {
	IdempotencyKey string // any text of your choice; repeating the request with the same text returns the job that the first request created
}

// CreateTraderExportJobs sends POST /trader/{address}/export-jobs. Export everything about a wallet as a zip.
func (c *Client) CreateTraderExportJobs(ctx context.Context, address string, body *wire.TraderExport, params CreateTraderExportJobsParams) (*wire.One[*wire.ExportJob], error) {
	r := request{method: "POST", path: join("/trader/", address, "/export-jobs"), query: url.Values{}, header: http.Header{}}
	set(url.Values(r.header), "Idempotency-Key", params.IdempotencyKey)
	if body != nil {
		r.body = body
	}
	return call[wire.One[*wire.ExportJob]](ctx, c, r)
}

// ResearchExportJobs sends GET /research/export-jobs/{job_id}. Status of an export job.
func (c *Client) ResearchExportJobs(ctx context.Context, jobID string) (*wire.One[wire.ExportJob], error) {
	r := request{method: "GET", path: join("/research/export-jobs/", jobID)}
	return call[wire.One[wire.ExportJob]](ctx, c, r)
}

// DeleteResearchExportJobs sends DELETE /research/export-jobs/{job_id}. Cancel an export job, or delete its file.
func (c *Client) DeleteResearchExportJobs(ctx context.Context, jobID string) (*wire.One[wire.ExportJob], error) {
	r := request{method: "DELETE", path: join("/research/export-jobs/", jobID)}
	return call[wire.One[wire.ExportJob]](ctx, c, r)
}

// ResearchExportJobsDownload sends GET /research/export-jobs/{job_id}/download. File of a finished export job.
func (c *Client) ResearchExportJobsDownload(ctx context.Context, jobID string) (*File, error) {
	r := request{method: "GET", path: join("/research/export-jobs/", jobID, "/download")}
	return download(ctx, c, r)
}

// TraderExportJobs sends GET /trader/export-jobs/{job_id}. Status of an export job.
func (c *Client) TraderExportJobs(ctx context.Context, jobID string) (*wire.One[wire.ExportJob], error) {
	r := request{method: "GET", path: join("/trader/export-jobs/", jobID)}
	return call[wire.One[wire.ExportJob]](ctx, c, r)
}

// DeleteTraderExportJobs sends DELETE /trader/export-jobs/{job_id}. Cancel an export job, or delete its file.
func (c *Client) DeleteTraderExportJobs(ctx context.Context, jobID string) (*wire.One[wire.ExportJob], error) {
	r := request{method: "DELETE", path: join("/trader/export-jobs/", jobID)}
	return call[wire.One[wire.ExportJob]](ctx, c, r)
}

// TraderExportJobsDownload sends GET /trader/export-jobs/{job_id}/download. File of a finished export job.
func (c *Client) TraderExportJobsDownload(ctx context.Context, jobID string) (*File, error) {
	r := request{method: "GET", path: join("/trader/export-jobs/", jobID, "/download")}
	return download(ctx, c, r)
}
