package export

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"

	"pmx/data"
	"pmx/engine"
)

// LakeVersion is the version of the lake's columns: another number, other columns. Files of
// another version are written again.
const LakeVersion = 1

// LakeFile is a file of the lake. Its name has its SHA-256 in it, so that a name always means
// the same bytes.
type LakeFile struct {
	Name    string    `json:"name"`    // path below the folder of the lake, with slashes
	Dataset string    `json:"dataset"` // fills, tokens, …
	Day     string    `json:"day,omitempty"`
	From    string    `json:"from,omitempty"`   // of shards: the first of the block's days
	Prefix  string    `json:"prefix,omitempty"` // of shards by wallet: how the addresses in it begin
	Suffix  string    `json:"suffix,omitempty"` // of shards by token: how the token ids in it end
	Rows    int64     `json:"rows"`
	Bytes   int64     `json:"bytes"`
	SHA256  string    `json:"sha256"`
	Sums    *LakeSums `json:"sums,omitempty"` // of fills
}

// LakeSums are what the fills of a day add up to, in millionths.
type LakeSums struct {
	BuyUSD     int64 `json:"buy_usd"`
	SellUSD    int64 `json:"sell_usd"`
	BuyShares  int64 `json:"buy_shares"`
	SellShares int64 `json:"sell_shares"`
	FeeUSD     int64 `json:"fee_usd"`
	FeeShares  int64 `json:"fee_shares"`
}

// LakeHead is the moment that a lake is of. Batch and History are of one database alone.
type LakeHead struct {
	Batch    int64 `json:"batch"`         // the last import, −1: none
	History  int64 `json:"history"`       // a fingerprint of the imports up to it
	AsOf     int64 `json:"as_of"`         // of the newest fill, unix µs
	WhaleMin int64 `json:"whale_min_usd"` // millionths
}

// LakeKnown says what of a lake is there already: the head of the export that wrote it, the print of each day, of each dataset without days, and
// that of each block of shards, which are written if Shards says so.
type LakeKnown struct {
	Head   LakeHead          `json:"head"`
	Since  *int64            `json:"since,omitempty"` // the last import of an export that came to its end: each print is that of its day then, or later. nil: not known
	Prints map[string]string `json:"prints"`
	Blocks map[string]string `json:"blocks,omitempty"`
	Tables map[string]string `json:"tables,omitempty"`
	Shards bool              `json:"shards,omitempty"`
}

// LakeStep is a file that is there under Path, or a day, a dataset without days or a block of shards that is as it was, with Path empty.
type LakeStep struct {
	File  LakeFile `json:"file"`
	Print string   `json:"print,omitempty"` // of what the file has, or the block, in this database
	Last  bool     `json:"last,omitempty"`  // of a block
	Path  string   `json:"path,omitempty"`
	Done  float64  `json:"done"` // share of the work that is behind it
}

// WriteLake writes the facts as a lake, as they are at one moment: fills by day, and every other dataset that has rows.
// begin is called with the moment, and whether what is known is of the same history of imports; each file is written below
// dir, read back and handed to done, which takes it away. What has a print that is known, of the same history of imports, is
// handed over without a path instead of being written.
func (e *Exporter) WriteLake(ctx context.Context, dir string, known LakeKnown, begin func(head LakeHead, continues bool) error, done func(LakeStep) error) error {
	if e.NoFills {
		return data.ErrElsewhere
	}
	err := e.DB.ReadLowPriority(ctx, func(conn *sql.Conn) error {
		return engine.InTx(ctx, conn, func() error {
			w := &lakeWriter{ctx: ctx, conn: conn, dir: dir, done: done, ofDays: 1}
			return w.write(known, begin, e.venueList())
		})
	})
	if err != nil {
		return explain(fmt.Errorf("export of the lake: %w", err))
	}
	return nil
}

// lakeWriter writes one lake, in one transaction; ctx is that of the whole export.
type lakeWriter struct {
	ctx  context.Context
	conn *sql.Conn
	dir  string
	done func(LakeStep) error

	ofDays float64 // the share of the work that writing the days is
}

func (w *lakeWriter) write(known LakeKnown, begin func(LakeHead, bool) error, venue string) error {
	head, err := w.head()
	if err != nil {
		return err
	}
	same, err := w.continues(known.Head)
	if err != nil {
		return err
	}
	if !same {
		known = LakeKnown{Head: known.Head, Shards: known.Shards}
	}
	if known.Shards {
		w.ofDays = 0.5
	}
	days, err := w.allDays(known)
	if err != nil {
		return err
	}
	if head.AsOf, err = w.asOf(days); err != nil {
		return err
	}
	if err := begin(head, same); err != nil {
		return err
	}
	if err := w.days(days, known.Prints); err != nil {
		return err
	}
	if known.Shards {
		if err := w.shards(lakeBlocks(days), known.Blocks); err != nil {
			return err
		}
	}
	return w.tables(days, venue, known.Tables)
}

func (w *lakeWriter) head() (h LakeHead, err error) {
	err = w.conn.QueryRowContext(w.ctx, statements.Get("LakeHead")).Scan(&h.Batch, &h.History, &h.WhaleMin)
	return h, err
}

// asOf is the time of the newest fill.
func (w *lakeWriter) asOf(days []lakeDay) (ts int64, err error) {
	if len(days) > 0 {
		err = w.conn.QueryRowContext(w.ctx, statements.Get("LakeNewest", days[len(days)-1].span()...)).Scan(&ts)
	}
	return ts, err
}

// continues reports whether what is imported follows upon what an earlier export had. It does not
// where a backup was restored, or where the lake is of another database.
func (w *lakeWriter) continues(was LakeHead) (bool, error) {
	var history, last int64
	err := w.conn.QueryRowContext(w.ctx, statements.Get("LakeHistory", "@batch", strconv.FormatInt(was.Batch, 10))).Scan(&history, &last)
	return err == nil && history == was.History && last == was.Batch, err
}

func (w *lakeWriter) days(days []lakeDay, known map[string]string) (err error) {
	for i, d := range days {
		step := LakeStep{File: LakeFile{Dataset: "fills", Day: d.date(), Rows: d.rows}, Print: d.print(), Done: w.ofDays * float64(i+1) / float64(len(days)+1)}
		if known[step.File.Day] == step.Print {
			err = w.done(step)
		} else {
			err = w.day(d, step)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lakeFills reads fills, with a column before all others.
func lakeFills(before string) string {
	r := replacements{}
	fillColumns(factForm(data.Parquet), r)
	return statements.Get("lake_fills", append(r.pairs(), "@time", before)...)
}

// day writes the fills of a day.
func (w *lakeWriter) day(d lakeDay, step LakeStep) error {
	s := &LakeSums{}
	step.File.Sums = s
	err := w.conn.QueryRowContext(w.ctx, statements.Get("LakeSums", d.span()...)).Scan(&s.BuyUSD, &s.SellUSD, &s.BuyShares, &s.SellShares, &s.FeeUSD, &s.FeeShares)
	if err != nil {
		return err
	}
	f := factForm(data.Parquet)
	return w.file(step, lakeFills(f.moment("f.ts")+" AS ts,")+"\n"+statements.Get("FillsOfDay", d.span()...), w.done)
}

// file writes one file and hands it over. A dataset without rows has none.
func (w *lakeWriter) file(step LakeStep, query string, done func(LakeStep) error) error {
	sealed := Partition{Name: "lake-" + step.File.Dataset + step.File.Day + step.File.From + step.File.Prefix + step.File.Suffix + ".parquet"}
	return writeQuery(w.ctx, w.conn, w.dir, sealed, query, lakeOptions(step.File.Dataset), func(p Partition, path string) error {
		step.File.Rows, step.File.Bytes, step.File.SHA256, step.Path = p.Rows, p.Bytes, p.SHA256, path
		step.File.Name = step.File.name()
		return done(step)
	})
}

// lakeOptions say how DuckDB writes a file of the lake. docs/cluster.md has the meaning of the
// columns that are the lake's own.
func lakeOptions(dataset string) string {
	if slices.Contains(Facts[1:], dataset) {
		return copyOptions(dataset, data.Parquet)
	}
	group := 250_000
	if IsShard(dataset) {
		group = shardGroup
	}
	return fmt.Sprintf("FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE %d, KV_METADATA {generator: 'pmx', dataset: %s, lake_version: '%d'}",
		group, quoted(dataset), LakeVersion)
}
