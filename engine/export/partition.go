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
	"strings"
	"time"

	"pmx/data"
)

// Partition is a file of an export of all facts: the fills of a UTC day, or a whole other dataset.
type Partition struct {
	Name        string `json:"name"` // path below the folder of the export, with slashes
	Rows        int64  `json:"rows"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"`
	Fingerprint string `json:"print"` // fingerprint of its rows, or of everything that they are read from: equal as long as these are
	// Provisional is the number of its fills that are from the venue's list of trades and not
	// confirmed by the chain.
	Provisional int64 `json:"provisional,omitempty"`
}

const dayMicros = 24 * int64(time.Hour/time.Microsecond)

// WritePartitions writes all facts as of one moment as canonical Parquet: fills by day in hive
// layout, and all other datasets that have rows. Each file is written below dir, read back, and
// passed to done, which moves it away, with the share of the work that is done. A file whose print
// is already known, by name, is passed on without a path and not written. With the returned state,
// the next export can tell what is unchanged.
func (e *Exporter) WritePartitions(ctx context.Context, dir string, known PartitionsKnown,
	done func(p Partition, path string, share float64) error) (state *PartitionState, err error) {
	if e.NoFills {
		return nil, data.ErrElsewhere
	}
	err = e.DB.ReadTwins(ctx, func(conns []*sql.Conn) error {
		w := &lakeWriter{ctx: ctx, conn: conns[0]}
		days, now, err := w.partitions(known)
		if err != nil {
			return err
		}
		state = now
		f := &dayFiles{conns: conns, dir: dir, known: known.Files, done: done}
		if err := f.write(ctx, days, e.DB.MemoryLimit(), state); err != nil {
			return err
		}
		return w.otherPartitions(dir, known, done)
	})
	if err != nil {
		return nil, explain(fmt.Errorf("export of all facts: %w", err))
	}
	return state, nil
}

// otherPartitions writes all datasets except for fills, each as a whole.
func (w *lakeWriter) otherPartitions(dir string, known PartitionsKnown, done func(p Partition, path string, share float64) error) error {
	sums := map[string]string{}
	for _, dataset := range Facts[1:] {
		print, err := w.tablePrint(factsQuery(dataset, data.Parquet)+copyOptions(dataset, data.Parquet), tablesOf(dataset), sums)
		if err != nil {
			return err
		}
		p := Partition{Name: dataset + ".parquet", Fingerprint: print}
		if was := known.Files[p.Name]; was.Fingerprint == print {
			p.Rows = was.Rows
			err = done(p, "", 1)
		} else {
			err = writeQuery(w.ctx, w.conn, dir, p, factsQuery(dataset, data.Parquet), copyOptions(dataset, data.Parquet), func(p Partition, path string) error { return done(p, path, 1) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeQuery writes the rows of a query to a file and passes it to done when it is complete.
// Without rows there is no file.
func writeQuery(ctx context.Context, conn *sql.Conn, dir string, p Partition, query, options string, done func(p Partition, path string) error) (err error) {
	path, err := writeFile(ctx, conn, dir, &p, query, options)
	if err != nil || path == "" {
		return err
	}
	return passOn(p, path, done)
}

// passOn passes a file to done, and removes it if done has not moved it.
func passOn(p Partition, path string, done func(p Partition, path string) error) (err error) {
	defer func() {
		if removed := os.Remove(path); !errors.Is(removed, os.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}()
	return done(p, path)
}

// writeFile writes the rows of a query to a file, completes p, and returns the path of the file; "" if there are no
// rows.
func writeFile(ctx context.Context, conn *sql.Conn, dir string, p *Partition, query, options string) (path string, err error) {
	path = filepath.Join(dir, strings.NewReplacer("/", "-", "=", "-").Replace(p.Name))
	p.Rows, err = copyTo(ctx, conn, path, query, options)
	if err == nil && p.Rows > 0 {
		if err = sealPartition(path, p); err == nil {
			return path, nil
		}
		err = fmt.Errorf("%s: %w", p.Name, err)
	}
	if removed := os.Remove(path); !errors.Is(removed, os.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return "", err
}

// sealPartition syncs a file, reads its footer back and computes its checksum.
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

// FileSum returns the SHA-256 of the rest of r, in lower-case hex, and its length.
func FileSum(r io.Reader) (sum string, bytes int64, err error) {
	h := sha256.New()
	bytes, err = io.CopyBuffer(h, r, make([]byte, 1<<20))
	return hex.EncodeToString(h.Sum(nil)), bytes, err
}
