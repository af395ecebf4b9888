package export

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"pmx/data"
	"pmx/engine"
)

// ErrDiskFull is returned where a file could not be written for want of space.
var ErrDiskFull = errors.New("the disk is full")

// rowGroup is how many rows are copied at once and make one row group. It is
// DuckDB's own, so that a step reads one block of the frozen rows, occupies one
// thread, and gives the same bytes however many threads there are.
const rowGroup = 122_880

// frozenShare is the part of a job's progress that reading the database takes.
const frozenShare = 0.3

// Exporter writes datasets. All fields but DB may be left out.
type Exporter struct {
	DB      *engine.DB
	Venue   map[data.Address]bool // the venue's own wallets, in no ranking
	MaxRows int64                 // 0: MaxRows
}

// File is a finished file.
type File struct {
	Rows      int64
	Bytes     int64
	SHA256    string    // of the whole file, lower-case hex
	AsOf      time.Time // up to when the data reaches; zero on an empty database
	Version   string    // of the database's state; equal versions, equal bytes
	Truncated bool      // rows were left out: there were more than MaxRows
}

// Write writes a research dataset as Parquet or CSV to path, which must lie below
// the data directory. The file has its name only when it is complete, is on the
// disk and was read back. progress, which may be nil, is told shares of the work
// from 0 to 1. ErrUnknown for another dataset or format, ErrDiskFull for want of space.
func (e *Exporter) Write(ctx context.Context, name string, format data.Format, path string, progress func(float64)) (File, error) {
	d, err := datasetNamed(name)
	if err != nil {
		return File{}, err
	}
	if format != data.Parquet && format != data.CSV {
		return File{}, fmt.Errorf("%w format %q: there are parquet and csv", ErrUnknown, format)
	}
	if progress == nil {
		progress = func(float64) {}
	}
	var file File
	err = e.DB.Read(ctx, func(conn *sql.Conn) error {
		var rows *rows
		err := engine.InTx(ctx, conn, func() error {
			var err error
			rows, err = e.freezeDataset(ctx, conn, d)
			return err
		})
		if err != nil {
			return err
		}
		defer rows.drop(ctx)
		progress(frozenShare)
		file, err = rows.write(ctx, format, path, func(share float64) { progress(frozenShare + share*(1-frozenShare)) })
		return err
	})
	if err != nil {
		return File{}, explain(fmt.Errorf("export %s: %w", name, err))
	}
	return file, nil
}

// explain marks errors that mean a full disk, whoever met it.
func explain(err error) error {
	text := err.Error()
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || strings.Contains(text, "No space left on device") ||
		strings.Contains(text, "Disk quota exceeded") || strings.Contains(text, "max_temp_directory_size") {
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	}
	return err
}

// Version tells the state of the database that a dataset would be read from now:
// as long as it is the same, so is every byte.
func (e *Exporter) Version(ctx context.Context) (version string, err error) {
	err = e.DB.Read(ctx, func(conn *sql.Conn) error {
		snap, err := e.state(ctx, conn)
		version = snap.version
		return err
	})
	return version, err
}

func (e *Exporter) state(ctx context.Context, conn *sql.Conn) (snap snapshot, err error) {
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

// venueList lists the venue's own wallets as SQL, NULL where there are none.
func (e *Exporter) venueList() string {
	list := make([]string, 0, len(e.Venue)+1)
	for a := range e.Venue {
		list = append(list, "unhex('"+a.String()[2:]+"')")
	}
	slices.Sort(list)
	return strings.Join(append(list, "''::BLOB"), ", ")
}

// snapshot is the state of the database that rows were read from.
type snapshot struct {
	version string
	asOf    time.Time
}

// rows are the rows of a dataset as they were at one moment, in a temporary table
// of conn, which stays when the transaction that read them is over.
type rows struct {
	snapshot
	conn      *sql.Conn
	dataset   dataset
	count     int64
	truncated bool
}

// freezeDataset freezes a research dataset. It runs in a transaction.
func (e *Exporter) freezeDataset(ctx context.Context, conn *sql.Conn, d dataset) (*rows, error) {
	snap, err := e.state(ctx, conn)
	if err != nil {
		return nil, err
	}
	definition, err := e.definition(ctx, conn, d.name)
	if err != nil {
		return nil, err
	}
	return e.freeze(ctx, conn, snap, d, definition)
}

// freeze keeps the first rows of a definition, one more than a file may have to
// see whether there are more.
func (e *Exporter) freeze(ctx context.Context, conn *sql.Conn, snap snapshot, d dataset, definition string) (*rows, error) {
	r := &rows{snapshot: snap, conn: conn, dataset: d}
	limit := cmp.Or(e.MaxRows, MaxRows)
	if _, err := conn.ExecContext(ctx, "CREATE OR REPLACE TEMP TABLE "+r.table()+" AS "+d.frozen(definition, limit+1)); err != nil {
		return nil, err
	}
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM "+r.table()).Scan(&r.count); err != nil {
		return nil, err
	}
	if r.count > limit {
		r.count, r.truncated = limit, true
	}
	return r, nil
}

func (r *rows) table() string { return "export_" + r.dataset.name }

// definition is the statement of a dataset. The wallets' totals are added up only
// where there is something to add.
func (e *Exporter) definition(ctx context.Context, conn *sql.Conn, name string) (string, error) {
	var tail int64
	if err := conn.QueryRowContext(ctx, statements.Get("TailRows")).Scan(&tail); err != nil {
		return "", err
	}
	totals := "wallet_total"
	if tail > 0 {
		totals = statements.Get("WalletTotals")
	}
	return statements.Get(name, "@wallet_total", totals, "@venue", e.venueList(),
		"@roi", ratio("(t.sell_usd - t.buy_usd - t.fee_usd + t.redemption)", "t.buy_usd"),
		"@win_rate", ratio("t.winning_markets", "t.resolved_markets"), "@skill", ratio("(s.baseline - s.error)", "s.baseline")), nil
}

// drop gives the rows' memory back; that fails only where the connection is
// beyond use, and its temporary tables with it.
func (r *rows) drop(ctx context.Context) {
	_, _ = r.conn.ExecContext(context.WithoutCancel(ctx), "DROP TABLE IF EXISTS "+r.table())
}

// write makes the file in steps of a row group, each a COPY of its own, so that
// progress moves, memory is bounded and a cancelled export ends soon.
func (r *rows) write(ctx context.Context, format data.Format, path string, progress func(float64)) (file File, err error) {
	out, err := newPart(path)
	if err != nil {
		return File{}, err
	}
	defer func() { err = errors.Join(err, out.discard()) }()
	var to joiner = &csvJoiner{out: out}
	if format == data.Parquet {
		to = &parquetJoiner{out: out, meta: r.metadata(), sorted: r.dataset.sortedBy()}
	}
	step := path + ".step"
	defer func() { _ = os.Remove(step) }()
	for from := int64(0); from == 0 || from < r.count; from += rowGroup {
		upTo := min(from+rowGroup, r.count)
		if err := r.copyStep(ctx, format, step, from, upTo); err != nil {
			return File{}, err
		}
		if err := to.add(step, from == 0); err != nil {
			return File{}, err
		}
		progress(float64(upTo) / float64(max(r.count, 1)))
	}
	if err := to.finish(); err != nil {
		return File{}, err
	}
	if err := out.publish(func(f *os.File) error { return readBack(f, format, r) }); err != nil {
		return File{}, err
	}
	return File{Rows: r.count, Bytes: out.size, SHA256: hex.EncodeToString(out.sum.Sum(nil)), AsOf: r.asOf,
		Version: r.version, Truncated: r.truncated}, nil
}

func (r *rows) copyStep(ctx context.Context, format data.Format, path string, from, upTo int64) error {
	options := "FORMAT csv, HEADER " + strconv.FormatBool(from == 0)
	if format == data.Parquet {
		options = fmt.Sprintf("FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE %d", rowGroup)
	}
	_, err := r.conn.ExecContext(ctx, fmt.Sprintf("COPY (SELECT %s FROM %s WHERE n > %d AND n <= %d) TO '%s' (%s)",
		r.dataset.shown(format), r.table(), from, upTo, strings.ReplaceAll(filepath.ToSlash(path), "'", "''"), options))
	return err
}

// metadata is what a Parquet file says of itself.
func (r *rows) metadata() [][2]string {
	return [][2]string{
		{"generator", "pmx"}, {"dataset", r.dataset.title()}, {"as_of", stamp(r.asOf)}, {"schema_version", SchemaVersion},
		{"method", Method}, {"rows", strconv.FormatInt(r.count, 10)}, {"truncated", strconv.FormatBool(r.truncated)},
	}
}

// Method names the definition behind every profit.
const Method = "cash_basis_v3"

// stamp writes a time as the API does; "" for the zero time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Truncate(time.Second).Format(time.RFC3339)
}
