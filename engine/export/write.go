package export

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmx/data"
	catalogue "pmx/data/datasets"
	"pmx/engine"
	"pmx/engine/export/job"
)

// ErrDiskFull is returned if a file could not be written because the disk is full.
var ErrDiskFull = engine.ErrDiskFull

// frozenShare is the share of a job's progress for reading the database.
const frozenShare = 0.3

// Exporter writes datasets. Only DB is required.
type Exporter struct {
	DB      *engine.DB
	Venue   map[data.Address]bool // the venue's own wallets, which are not ranked
	MaxRows int64                 // 0: MaxRows
	NoFills bool                  // the database has rollups that were computed elsewhere, and no fills
}

// Write writes a research dataset as Parquet or CSV to path, which must be below the data
// directory. The file gets its name only after it is complete, synced and read back. progress,
// which may be nil, is called with shares of the work from 0 to 1. The result does not have the
// name of the file. The error is ErrUnknown for an unknown dataset or format, and ErrDiskFull if
// the disk is full.
func (e *Exporter) Write(ctx context.Context, name string, format data.Format, path string, progress func(float64)) (job.Result, error) {
	d, err := datasetNamed(name)
	if err != nil {
		return job.Result{}, err
	}
	if format != data.Parquet && format != data.CSV {
		return job.Result{}, fmt.Errorf("%w format %q: use parquet or csv", ErrUnknown, format)
	}
	if progress == nil {
		progress = func(float64) {}
	}
	file, err := e.write(ctx, d, format, path, progress)
	if err != nil {
		return job.Result{}, explain(fmt.Errorf("export %s: %w", name, err))
	}
	return file, nil
}

func (e *Exporter) write(ctx context.Context, d dataset, format data.Format, path string, progress func(float64)) (job.Result, error) {
	var rows *frozenRows
	in, err := e.freezing(ctx, func(conn *sql.Conn, in *frozen) (err error) {
		rows, err = e.freezeDataset(ctx, conn, in, d)
		return err
	})
	if err != nil {
		return job.Result{}, err
	}
	defer in.drop(ctx)
	progress(frozenShare)
	return rows.write(ctx, format, path, func(share float64) { progress(frozenShare + share*(1-frozenShare)) })
}

// explain marks errors caused by a full disk, wherever they come from.
func explain(err error) error {
	if data.IsNoSpace(err) {
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	}
	return err
}

// Version identifies the current state of the database from which datasets are read. As long as it
// is equal, so is every byte of a file.
func (e *Exporter) Version(ctx context.Context) (version string, err error) {
	err = e.DB.Read(ctx, func(conn *sql.Conn) error {
		snap, err := e.state(ctx, conn)
		version = snap.version
		return err
	})
	return version, err
}

func (e *Exporter) state(ctx context.Context, conn *sql.Conn) (snap databaseState, err error) {
	var epoch, us, batches, imported int64
	if err := conn.QueryRowContext(ctx, statements.Get("DataVersion")).Scan(&epoch, &us, &batches, &imported); err != nil {
		return snap, err
	}
	if us > 0 {
		snap.asOf = time.UnixMicro(us).UTC()
	}
	sum := sha256.Sum256([]byte(e.venueList()))
	snap.version = fmt.Sprintf("%s-%d-%d-%d-%d-%x", SchemaVersion, epoch, us, batches, imported, sum[:4])
	return snap, nil
}

// venueList returns the venue's own wallets as a SQL list; NULL if there are none.
func (e *Exporter) venueList() string {
	list := make([]string, 0, len(e.Venue)+1)
	for a := range e.Venue {
		list = append(list, "unhex('"+a.String()[2:]+"')")
	}
	slices.Sort(list)
	return strings.Join(append(list, "''::BLOB"), ", ")
}

// definition returns the statement of a dataset. The wallets' totals are summed up only if there is
// a delta.
func (e *Exporter) definition(ctx context.Context, conn *sql.Conn, name string) (string, error) {
	var delta int64
	if err := conn.QueryRowContext(ctx, statements.Get("DeltaRows")).Scan(&delta); err != nil {
		return "", err
	}
	totals := "wallet_total"
	if delta > 0 {
		totals = statements.Get("WalletTotals")
	}
	return statements.Get(name, "@wallet_total", totals, "@venue", e.venueList(),
		"@roi", ratio("(t.sell_usd - t.buy_usd - t.fee_usd + t.redemption)", "t.buy_usd"),
		"@time_source", timeSource("m.resolved_at_source"),
		"@win_rate", ratio("t.winning_markets", "t.resolved_markets"), "@skill", ratio("(s.baseline - s.error)", "s.baseline")), nil
}

// metadata returns the metadata of a Parquet file.
func (r *frozenRows) metadata() [][2]string {
	return append([][2]string{
		{"generator", "pmx"}, {"dataset", r.dataset.title()}, {"as_of", stamp(r.asOf)}, {"schema_version", SchemaVersion},
		{"method", Method}, {"rows", strconv.FormatInt(r.count, 10)}, {"truncated", strconv.FormatBool(r.truncated)},
	}, catalogue.Meanings(r.dataset.name)...)
}

// Method is the name of the definition of profits.
const Method = "cash_basis_v3"

// stamp formats a time like the API; "" for the zero time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Truncate(time.Second).Format(time.RFC3339)
}
