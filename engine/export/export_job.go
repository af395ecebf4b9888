package export

import (
	"context"
	"errors"

	"pmx/data"
	"pmx/engine/export/job"
)

var _ job.Work = (*Exporter)(nil)

// WriteJob writes the file of an export job to path.
func (e *Exporter) WriteJob(ctx context.Context, r job.Request, path string, progress func(float64)) (job.Result, error) {
	if r.Kind != job.Trader {
		return e.Write(ctx, r.Dataset, data.Format(r.Format), path, progress)
	}
	wallet, err := data.ParseAddress(r.Address)
	if err != nil {
		return job.Result{}, err
	}
	return e.WriteTrader(ctx, wallet, data.Format(r.Format), r.HistoryDays, path, progress)
}

// Explain returns the message for the caller about an error of WriteJob.
func (e *Exporter) Explain(err error) job.Failure {
	switch {
	case errors.Is(err, ErrDiskFull):
		return job.Failure{Code: "disk_full", Detail: "The server did not have enough disk space for this file, and kept nothing of it. Request another export later."}
	case errors.Is(err, ErrNoTrader):
		return job.Failure{Code: "trader_not_found", Detail: "No trades of this wallet are known."}
	}
	return job.Failure{Code: "internal", Detail: "The server failed while it wrote this file. Request another export; if it fails again, report the job's id."}
}
