package wire

import (
	"time"

	"pmx/data"
)

// ResearchExport is the body of POST /research/export-jobs.
type ResearchExport struct {
	Dataset string `json:"dataset" enum:"markets,trader_leaderboard,wallet_pnl,oracle_accuracy"` // `id` of a dataset of `/research/datasets`
	Format  string `json:"format,omitempty" enum:"parquet,csv"`                                  // parquet where it is left out
	Period  string `json:"period,omitempty" enum:"all"`                                          // all where it is left out
}

// TraderExport is the body of POST /trader/{address}/export-jobs, which may be left out.
type TraderExport struct {
	Format string `json:"format,omitempty" enum:"parquet,csv"` // of the files in the zip; parquet where it is left out
}

// ExportJob is one export job. A job belongs to the key that made it.
type ExportJob struct {
	JobID       string       `json:"job_id"`                                                    // names the job; nobody else can guess it
	Kind        string       `json:"kind" enum:"research,trader"`                               // what is exported: a dataset or one wallet
	Dataset     *string      `json:"dataset"`                                                   // null for a trader
	Address     *string      `json:"address"`                                                   // null for a dataset
	Format      string       `json:"format" enum:"parquet,csv"`                                 // of the file, or of the files in the zip
	Period      string       `json:"period" enum:"all"`                                         // of the data
	Status      string       `json:"status" enum:"queued,running,done,failed,canceled,expired"` // queued, running, then done, failed or canceled; done ends in expired
	Progress    data.Micro   `json:"progress"`                                                  // 0 to 1
	Rows        *int64       `json:"rows"`                                                      // rows of the file, of all files of a zip; null until done
	Bytes       *int64       `json:"bytes"`                                                     // size of the file; null until done
	SHA256      *string      `json:"sha256"`                                                    // of the file, in hexadecimal digits; null until done
	Truncated   bool         `json:"truncated"`                                                 // whether rows were left out: beyond 2,000,000, or beyond the plan's history
	CreatedAt   time.Time    `json:"created_at"`                                                // when it was asked for
	StartedAt   *time.Time   `json:"started_at"`                                                // when a worker took it last; null until then
	FinishedAt  *time.Time   `json:"finished_at"`                                               // when it was done, failed or canceled; null until then
	ExpiresAt   *time.Time   `json:"expires_at"`                                                // when the file is removed; null until done
	DownloadURL *string      `json:"download_url"`                                              // path of the file on this host; null unless done
	AsOf        *time.Time   `json:"as_of"`                                                     // up to when the data in the file reaches; null until done
	Error       *ExportError `json:"error"`                                                     // why it failed; null unless failed
	Usage       *ExportUsage `json:"usage"`                                                     // lines that read the downloaded file; null unless done
}

// ExportError is why an export job failed.
type ExportError struct {
	Code   string `json:"code"`   // stable: disk_full, interrupted, trader_not_found or internal
	Detail string `json:"detail"` // what happened and what to do
}

// ExportUsage are lines ready to be run beside the downloaded file.
type ExportUsage struct {
	FileName string `json:"file_name"` // what the download calls the file
	DuckDB   string `json:"duckdb"`    // a line of DuckDB SQL
	Pandas   string `json:"pandas"`    // a line of Python with pandas
}
