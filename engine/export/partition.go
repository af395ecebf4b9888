package export

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pmx/data"
	"pmx/engine"
)

// Partition is one file of all facts: the fills of a UTC day, or a whole other dataset.
type Partition struct {
	Name        string `json:"name"` // path below the folder of the export, with slashes
	Rows        int64  `json:"rows"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"`
	Fingerprint string `json:"print"` // of the rows in it, for fills: the same as long as they are
	// Provisional is how many of its fills are of the venue's list of trades, and not confirmed by the chain.
	Provisional int64 `json:"provisional,omitempty"`
}

const dayMicros = 24 * int64(time.Hour/time.Microsecond)

// WritePartitions writes all facts as canonical Parquet, as they are at one
// moment: fills by day in hive layout, and every other dataset that has rows.
// Each file is written below dir, read back, and handed to done with the share
// of the work that is behind it; done takes it away. A day whose print is known
// already, by name, is handed over without a path instead of being written.
func (e *Exporter) WritePartitions(ctx context.Context, dir string, known map[string]string,
	done func(p Partition, path string, share float64) error) error {
	if e.NoFills {
		return data.ErrElsewhere
	}
	err := e.DB.ReadLowPriority(ctx, func(conn *sql.Conn) error {
		return engine.InTx(ctx, conn, func() error {
			days, total, err := fillDays(ctx, conn)
			if err != nil {
				return err
			}
			behind := int64(0)
			for _, d := range days {
				behind += d.Rows
				share := float64(behind) / float64(total+1)
				if known[d.Name] == d.Fingerprint {
					err = done(d.Partition, "", share)
				} else {
					err = writePartition(ctx, conn, dir, d.Partition, "fills", d.where(), func(p Partition, path string) error { return done(p, path, share) })
				}
				if err != nil {
					return err
				}
			}
			for _, dataset := range Facts[1:] {
				p := Partition{Name: dataset + ".parquet"}
				err := writePartition(ctx, conn, dir, p, dataset, "", func(p Partition, path string) error { return done(p, path, 1) })
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return explain(fmt.Errorf("export of all facts: %w", err))
	}
	return nil
}

// fillDay is a day of fills before it is written.
type fillDay struct {
	Partition
	day int64
}

func (d fillDay) where() string {
	return " " + statements.Get("FillsOfDay", "@from", strconv.FormatInt(d.day*dayMicros, 10), "@to", strconv.FormatInt((d.day+1)*dayMicros, 10))
}

func fillDays(ctx context.Context, conn *sql.Conn) (days []fillDay, total int64, err error) {
	rows, err := conn.QueryContext(ctx, statements.Get("FillDays", "@version", FactsVersion, "@listed", data.ListedTrades))
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var d fillDay
		if err := rows.Scan(&d.day, &d.Rows, &d.Provisional, &d.Fingerprint); err != nil {
			return nil, 0, err
		}
		d.Name = "fills/day=" + time.UnixMicro(d.day*dayMicros).UTC().Format(time.DateOnly) + "/fills.parquet"
		total += d.Rows
		days = append(days, d)
	}
	return days, total, rows.Err()
}

// writePartition writes one file of a dataset of facts.
func writePartition(ctx context.Context, conn *sql.Conn, dir string, p Partition, dataset, where string, done func(p Partition, path string) error) error {
	return writeQuery(ctx, conn, dir, p, factsQuery(dataset, data.Parquet)+where, copyOptions(dataset, data.Parquet), done)
}

// writeQuery writes the rows of a query to a file; done gets it whole. Without rows there is none.
func writeQuery(ctx context.Context, conn *sql.Conn, dir string, p Partition, query, options string, done func(p Partition, path string) error) (err error) {
	path := filepath.Join(dir, strings.NewReplacer("/", "-", "=", "-").Replace(p.Name))
	defer func() {
		if removed := os.Remove(path); !errors.Is(removed, os.ErrNotExist) { // done may have taken it
			err = errors.Join(err, removed)
		}
	}()
	p.Rows, err = copyTo(ctx, conn, path, query, options)
	if err != nil || p.Rows == 0 {
		return err
	}
	if err := sealPartition(path, &p); err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return done(p, path)
}

// sealPartition brings a file to the disk, reads its footer back and takes its sum.
func sealPartition(path string, p *Partition) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Sync(); err != nil {
		return err
	}
	footer, _, err := readFooter(f)
	if err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	if footer.NumRows != p.Rows {
		return fmt.Errorf("read back: %d rows, want %d", footer.NumRows, p.Rows)
	}
	p.SHA256, p.Bytes, err = FileSum(f)
	return err
}

// FileSum gives the SHA-256 of what is left of r, in lower-case hex, and its length.
func FileSum(r io.Reader) (sum string, bytes int64, err error) {
	h := sha256.New()
	bytes, err = io.CopyBuffer(h, r, make([]byte, 1<<20))
	return hex.EncodeToString(h.Sum(nil)), bytes, err
}
