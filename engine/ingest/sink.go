package ingest

import (
	"bytes"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"pmx/data"
	"pmx/engine"
)

// sink stages the rows of a feed that is read in Go.
type sink struct {
	j       *fileImport
	own     driver.ExecerContext  // the driver's connection
	fills   *engine.ChunkAppender // to s_raw; nil: that does not exist, and the fills are held
	tokens  *appender
	blocks  *appender
	markets *markets
	weather *weatherRows   // nil for feeds without fills
	bytes   func() float64 // share of the file read so far
	counted bool           // a row of the current record was counted
	other   bool           // anything but fills was staged
}

// Indexes of the values of a fill in data.FillColumns.
const (
	rowAt = iota
	txAt
	logIndexAt
	blockAt
	tsAt
	walletAt
	roleAt
	tokenAt
	conditionAt
	outcomeAt
	sideAt
	sharesAt
	usdAt
	feeAt
	nameAt
)

var _ data.Sink = (*sink)(nil)

// rawEmpty creates the table of fills.
func (j *fileImport) rawEmpty() error { return j.exec("RawEmpty", "@columns", rawColumns()) }

// rawColumns are its columns.
func rawColumns() string {
	cols := make([]string, len(data.FillColumns))
	for i, c := range data.FillColumns {
		cols[i] = c[0] + " " + c[1]
	}
	return strings.Join(cols, ", ")
}

// stageRows stages a file that the feed reads in Go.
func (j *fileImport) stageRows() error {
	f, err := os.Open(j.src.plain.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	counter := &countReader{r: f}
	err = j.withAppenders(func(s *sink) error {
		s.bytes = func() float64 { return float64(counter.n) / float64(max(j.src.plain.Size, 1)) }
		return j.src.feed.Read(j.ctx, j.src.plain, counter, s)
	})
	if isLines(j.src.plain.Format) {
		j.receipt.Lines.Total = counter.lines()
	}
	if err != nil && j.ctx.Err() == nil {
		return fmt.Errorf("%w: %w", ErrFileRefused, err)
	}
	if err != nil {
		return err
	}
	return j.refuseIfRejected()
}

// isLines reports whether files of a format consist of lines.
func isLines(f data.Format) bool { return f == data.CSV || f == data.NDJSON }

// countReader counts the bytes and the lines that are read.
type countReader struct {
	r      io.Reader
	n      int64
	breaks int64
	open   bool // the last line has no line end
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.breaks += int64(bytes.Count(p[:n], []byte("\n")))
	if n > 0 {
		c.open = p[n-1] != '\n'
	}
	return n, err
}

// lines returns the number of lines read, including a last one without a line end.
func (c *countReader) lines() int64 {
	if c.open {
		return c.breaks + 1
	}
	return c.breaks
}

// withAppenders runs f with a sink on the writing connection and flushes what
// it appended.
func (j *fileImport) withAppenders(f func(*sink) error) error {
	return j.conn.Raw(func(dc any) error {
		own, ok := dc.(driver.ExecerContext)
		if !ok {
			return fmt.Errorf("driver %T cannot run commands", dc)
		}
		s := &sink{j: j, own: own, markets: newMarkets(j.src.dir, j.im.Memory)}
		var open []*appender
		to := func(table string) *appender {
			a, err := engine.TempAppender(dc, table)
			if err != nil {
				return nil
			}
			open = append(open, &appender{Appender: a})
			return open[len(open)-1]
		}
		s.tokens, s.blocks = to("n_map"), to("s_block")
		marketRows := to("m_raw")
		want := 3
		if j.src.feed.Query == nil {
			j.held = heldFills{only: true}
			latest := j.latest()
			if j.staged = newStagedFills(latest); j.src.read != nil && j.opts.Remaining.Fills > 0 { // a catch-up has many
				j.staged = newManyStagedFills(latest)
			}
		}
		if j.src.hasWeather() {
			s.weather = &weatherRows{issue: to("s_issue"), report: to("s_report"), obs: to("s_obs"),
				normal: to("s_normal"), cities: j.im.Feeds.Gazetteer(), latest: j.latest()}
			want += 4
		}
		err := errors.New("cannot append to the staging tables")
		if len(open) == want {
			err = f(s)
		}
		if err == nil && s.fills == nil && j.staged != nil && j.staged.byLog != nil { // of the many there was none
			err = s.openRaw()
		}
		if err == nil {
			err = j.stageMarkets(s, marketRows, func() *appender { return to("s_spare") })
		}
		err = errors.Join(err, s.markets.close())
		if s.fills != nil {
			err = errors.Join(err, s.fills.Close())
		}
		for _, a := range open {
			err = errors.Join(err, a.Close())
		}
		j.onlyFills = j.src.hasFills() && j.src.feed.Query == nil && !s.other
		return err
	})
}

// stageMarkets stages the merged markets of the file, and stores resolutions that lost against
// others in it. openSpare is called if there are payouts of other lengths.
func (j *fileImport) stageMarkets(s *sink, to *appender, openSpare func() *appender) error {
	var spare *appender
	err := s.markets.each(func(g *gathered) error {
		if err := j.ctx.Err(); err != nil {
			return err
		}
		j.receipt.untaken(&g.Market)
		j.hasPayouts = j.hasPayouts || g.Market.Resolution != nil
		for _, t := range g.Market.Mapped {
			if err := s.mapToken(t, false); err != nil {
				return err
			}
		}
		row, err := marketRow(g.Market)
		if err != nil {
			return err
		}
		for _, r := range g.Others {
			if spare == nil {
				if spare = openSpare(); spare == nil {
					return errors.New("cannot append to the table of spare payouts")
				}
				j.spares = true
			}
			if err := spare.add(0, spareRow(g.Market.Condition, r)...); err != nil {
				return err
			}
		}
		return to.add(marketBytes(&g.Market), append(row, g.Line, g.Contradicts)...)
	})
	if err != nil {
		return err
	}
	j.spilled = s.markets.spilled != nil
	return s.markets.eachLost(j.lostResolution)
}

// appender adds rows to a table. DuckDB would keep 200,000 of them in memory, however long they
// are, so long ones are flushed earlier.
type appender struct {
	*duckdb.Appender
	bytes int
}

// appendBytes is the maximum size of texts that are kept before they are flushed.
const appendBytes = 16 << 20

// add adds a row. bytes is the size of its texts.
func (a *appender) add(bytes int, row ...driver.Value) error {
	if err := a.AppendRow(row...); err != nil {
		return err
	}
	if a.bytes += bytes; a.bytes < appendBytes {
		return nil
	}
	a.bytes = 0
	return a.Flush()
}

// countDescribed counts a row that is not a fill in rows. What rows of fills also say about their
// markets does not count.
func (s *sink) countDescribed(rows *int64) {
	if !s.j.src.hasFills() {
		*rows++
		s.countRow()
	}
}

// countRow counts a row of the file.
func (s *sink) countRow() {
	s.counted = true
	s.j.receipt.Read++
	if s.j.receipt.Read%8192 == 0 {
		s.j.progress("reading", s.bytes(), s.j.receipt.Read)
	}
}

// Fill stages a fill.
func (s *sink) Fill(line int64, f data.Fill) error {
	s.countRow()
	j := s.j
	j.staged = j.staged.add(line, &f)
	if j.staged.holding() {
		j.held.rows = append(j.held.rows, heldFill{line, f})
		return nil
	}
	if s.fills == nil {
		if err := s.openRaw(); err != nil {
			return err
		}
	}
	putRaw(s.fills, line, &f)
	return s.fills.EndRow()
}

// openRaw creates s_raw, and moves the held fills there: they are too many, or not all usable.
func (s *sink) openRaw() (err error) {
	j := s.j
	if _, err := s.own.ExecContext(j.ctx, j.text("RawEmpty", "@columns", rawColumns()), nil); err != nil {
		return fmt.Errorf("RawEmpty: %w", err)
	}
	if s.fills, err = engine.TempChunkAppender(s.own, "s_raw"); err != nil {
		return err
	}
	for i := range j.held.rows {
		putRaw(s.fills, j.held.rows[i].row, &j.held.rows[i].Fill)
		if err := s.fills.EndRow(); err != nil {
			return err
		}
	}
	j.held = heldFills{}
	return nil
}

// Market stages a market.
func (s *sink) Market(line int64, m data.Market) error {
	s.countDescribed(&s.j.described.markets)
	s.other = true
	soundMarket(&m)
	return s.markets.add(line, m)
}

// Resolution stages a payout.
func (s *sink) Resolution(line int64, r data.Resolution) error {
	s.other = true
	if s.j.src.hasFills() {
		s.j.receipt.PayoutRows++
		s.countRow()
	} else {
		s.countDescribed(&s.j.described.markets)
	}
	return s.markets.add(line, data.Market{Condition: r.Condition, Stub: true, Resolution: &r})
}

// Token stages a mapping.
func (s *sink) Token(_ int64, t data.TokenRef) error {
	s.countDescribed(&s.j.described.mappings)
	return s.mapToken(t, true)
}

// mapToken stages the label of a token and its outcome if the feed has it. ownRow is set if the row
// is about the token and not a record of its market.
func (s *sink) mapToken(t data.TokenRef, ownRow bool) error {
	var condition, outcome driver.Value
	if !t.Condition.IsZero() {
		condition = append([]byte(nil), t.Condition[:]...)
	}
	if condition != nil && t.Outcome >= 0 && t.Outcome <= math.MaxInt8 {
		outcome = int8(t.Outcome)
	}
	if outcome == nil && t.Label == "" {
		return nil
	}
	s.other = true
	return s.tokens.AppendRow(t.TokenID, condition, outcome, !t.Stub, orNull(t.Label), ownRow)
}

// Block stages the time of a block.
func (s *sink) Block(_ int64, b data.Block) error {
	s.countDescribed(&s.j.described.blocks)
	s.other = true
	return s.blocks.AppendRow(b.Number, b.TS)
}

// Note counts something unusual about a row that is imported.
func (s *sink) Note(reason string) {
	if s.j.receipt.Notes == nil {
		s.j.receipt.Notes = map[string]int64{}
	}
	s.j.receipt.Notes[reason]++
}

// Reject stores a row that the feed cannot read.
func (s *sink) Reject(line int64, reason, detail, raw string) error {
	s.countRow()
	return s.j.rejects.add(line, reason, detail, raw)
}

// Pass counts a row that gives nothing.
func (s *sink) Pass(_ int64, why data.Passed) error {
	s.countRow()
	s.j.receipt.pass(why)
	return nil
}

// Lines counts lines of the file, and a record that gave nothing.
func (s *sink) Lines(kind data.LineKind, n int64) error {
	s.j.receipt.Lines.add(kind, n)
	if kind != data.LineRecord && kind != data.LineLater {
		return nil
	}
	if !s.counted && kind == data.LineRecord {
		s.countRow()
		s.j.receipt.pass(data.PassedEmpty)
	}
	s.counted = false
	return nil
}
