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

// LakeVersion is the version of the lake's columns. Files of another version are written again.
const LakeVersion = 1

// LakeFile is a file of the lake. Its name contains its SHA-256, so a name always means the same
// bytes.
type LakeFile struct {
	Name    string    `json:"name"`    // path below the folder of the lake, with slashes
	Dataset string    `json:"dataset"` // fills, tokens, …
	Day     string    `json:"day,omitempty"`
	From    string    `json:"from,omitempty"`   // of shards: the first day of the block
	Prefix  string    `json:"prefix,omitempty"` // of shards by wallet: the first digits of the addresses
	Suffix  string    `json:"suffix,omitempty"` // of shards by token: the last digits of the token ids
	Rows    int64     `json:"rows"`
	Bytes   int64     `json:"bytes"`
	SHA256  string    `json:"sha256"`
	Sums    *LakeSums `json:"sums,omitempty"` // of fills
}

// LakeSums are the sums of the fills of a day, in millionths.
type LakeSums struct {
	BuyUSD     int64 `json:"buy_usd"`
	SellUSD    int64 `json:"sell_usd"`
	BuyShares  int64 `json:"buy_shares"`
	SellShares int64 `json:"sell_shares"`
	FeeUSD     int64 `json:"fee_usd"`
	FeeShares  int64 `json:"fee_shares"`
}

// LakeHead is the state of the database that a lake was written from. Batch and History are
// specific to one database.
type LakeHead struct {
	Batch    int64 `json:"batch"`         // the last import; −1: none
	History  int64 `json:"history"`       // a fingerprint of the imports up to it
	AsOf     int64 `json:"as_of"`         // of the newest fill, unix µs
	WhaleMin int64 `json:"whale_min_usd"` // millionths
}

// LakeKnown describes an existing lake: the head of the export that wrote it, and the prints of
// each day, of each dataset without days, and of each block of shards. Shards are written if Shards
// is set.
type LakeKnown struct {
	Head   LakeHead          `json:"head"`
	Since  *int64            `json:"since,omitempty"` // the last import of a completed export: each print is that of its day then, or later; nil: not known
	Prints map[string]string `json:"prints"`
	Blocks map[string]string `json:"blocks,omitempty"`
	Tables map[string]string `json:"tables,omitempty"`
	Shards bool              `json:"shards,omitempty"`
}

// LakeStep is a written file at Path, or, with an empty Path, an unchanged day, dataset without
// days or block of shards.
type LakeStep struct {
	File  LakeFile `json:"file"`
	Print string   `json:"print,omitempty"` // print of the file's rows, or of the block, in this database
	Last  bool     `json:"last,omitempty"`  // of a block
	Path  string   `json:"path,omitempty"`
	Done  float64  `json:"done"` // share of the work that is done after this step
}

// WriteLake writes the facts as of one moment as a lake: fills by day, and all other datasets that
// have rows. begin is called with the head of the lake, and whether known has the same history of
// imports. Each file is written below dir, read back and passed to done, which moves it away. If
// known has the same history and the print of a part, that part is passed to done without a path
// and not written.
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

// lakeWriter writes a lake in one transaction; ctx is that of the whole export.
type lakeWriter struct {
	ctx  context.Context
	conn *sql.Conn
	dir  string
	done func(LakeStep) error

	ofDays float64 // share of the work for writing the days
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

// asOf returns the time of the newest fill.
func (w *lakeWriter) asOf(days []lakeDay) (ts int64, err error) {
	if len(days) > 0 {
		err = w.conn.QueryRowContext(w.ctx, statements.Get("LakeNewest", days[len(days)-1].span()...)).Scan(&ts)
	}
	return ts, err
}

// continues reports whether the database continues the state of an earlier export. It does not if a
// backup was restored, or if the lake is from another database.
func (w *lakeWriter) continues(was LakeHead) (bool, error) {
	var history, last int64
	err := w.conn.QueryRowContext(w.ctx, statements.Get("LakeHistory", "@batch", strconv.FormatInt(was.Batch, 10))).Scan(&history, &last)
	return err == nil && history == was.History && last == was.Batch, err
}

func (w *lakeWriter) days(days []lakeDay, known map[string]string) (err error) {
	for i, d := range days {
		step := LakeStep{File: LakeFile{Dataset: "fills", Day: d.date(), Rows: d.Fills}, Print: d.print(), Done: w.ofDays * float64(i+1) / float64(len(days)+1)}
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

// lakeFills returns a query of fills, with a column before all others.
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

// file writes a file and passes it on. A dataset without rows has no file.
func (w *lakeWriter) file(step LakeStep, query string, done func(LakeStep) error) error {
	sealed := Partition{Name: "lake-" + step.File.Dataset + step.File.Day + step.File.From + step.File.Prefix + step.File.Suffix + ".parquet"}
	return writeQuery(w.ctx, w.conn, w.dir, sealed, query, lakeOptions(step.File.Dataset), func(p Partition, path string) error {
		step.File.Rows, step.File.Bytes, step.File.SHA256, step.Path = p.Rows, p.Bytes, p.SHA256, path
		step.File.Name = step.File.name()
		return done(step)
	})
}

// lakeOptions returns the options of COPY for a file of the lake. docs/cluster.md has the meanings
// of columns that only the lake has.
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
