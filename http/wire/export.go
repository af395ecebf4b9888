package wire

import (
	"time"

	"pmx/data"
)

// ResearchExport is the body of POST /research/export-jobs.
type ResearchExport struct {
	Dataset string `json:"dataset" enum:"markets,trader_leaderboard,wallet_pnl,oracle_accuracy"` // `id` of a dataset of `/research/datasets`
	Format  string `json:"format,omitempty" enum:"parquet,csv"`                                  // parquet if omitted
	Period  string `json:"period,omitempty" enum:"all"`                                          // all if omitted
}

// TraderExport is the body of POST /trader/{address}/export-jobs. It may be omitted.
type TraderExport struct {
	Format string `json:"format,omitempty" enum:"parquet,csv"` // format of the files in the zip; parquet if omitted
}

// ExportJob is one export job. A job belongs to the key that created it.
type ExportJob struct {
	JobID       string       `json:"job_id"`                                                    // id of the job; it cannot be guessed
	Kind        string       `json:"kind" enum:"research,trader"`                               // what is exported: research is a dataset, trader is one wallet
	Dataset     *string      `json:"dataset"`                                                   // id of the dataset; null for a wallet
	Address     *string      `json:"address"`                                                   // wallet address, `0x` and 40 hexadecimal digits in lower case; null for a dataset
	Format      string       `json:"format" enum:"parquet,csv"`                                 // format of the file, or of the files in the zip
	Period      string       `json:"period" enum:"all"`                                         // period that the data covers
	Status      string       `json:"status" enum:"queued,running,done,failed,canceled,expired"` // queued, then running, then done, failed or canceled; a done job becomes expired when its file is removed
	Progress    data.Micro   `json:"progress"`                                                  // share of the work that is done, 0 to 1
	Rows        *int64       `json:"rows"`                                                      // rows in the file, or in all files of the zip; null until done
	Bytes       *int64       `json:"bytes"`                                                     // size of the file in bytes; null until done
	SHA256      *string      `json:"sha256"`                                                    // SHA-256 of the file in hexadecimal digits; null until done
	Truncated   bool         `json:"truncated"`                                                 // whether rows were left out because they exceed 2,000,000 or the plan's history
	CreatedAt   time.Time    `json:"created_at"`                                                // when the job was requested
	StartedAt   *time.Time   `json:"started_at"`                                                // when a worker last started the job; null until then
	FinishedAt  *time.Time   `json:"finished_at"`                                               // when the job was done, failed or canceled; null until then
	ExpiresAt   *time.Time   `json:"expires_at"`                                                // when the file is removed; null until done
	DownloadURL *string      `json:"download_url"`                                              // path of the file on this host; null unless the job is done
	AsOf        *time.Time   `json:"as_of"`                                                     // time up to which the data in the file is complete; null until done
	Error       *ExportError `json:"error"`                                                     // why the job failed; null unless it failed
	Usage       *ExportUsage `json:"usage"`                                                     // code that reads the downloaded file; null unless the job is done
}

// ExportError is why an export job failed.
type ExportError struct {
	Code   string `json:"code"`   // stable code: disk_full, interrupted, trader_not_found or internal
	Detail string `json:"detail"` // what happened and what to do
}

// ExportUsage is code that reads the downloaded file, to be run in its folder.
type ExportUsage struct {
	FileName string `json:"file_name"` // file name that the download suggests
	DuckDB   string `json:"duckdb"`    // one line of DuckDB SQL
	Pandas   string `json:"pandas"`    // one line of Python with pandas
}
