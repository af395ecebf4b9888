package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"pmx/data"
)

// Maximum numbers of files and rows that are imported together, so that the fixed cost of an import
// is paid once.
const (
	togetherFiles = 1_000
	togetherRows  = 2_000_000
)

// Groups divides plans, in order, into groups for ImportTogether and single ones.
func Groups(plans []Plan) (groups [][]Plan) {
	rows := int64(0)
	for i, p := range plans {
		rows += p.Rows
		if i == 0 || !p.fits(&plans[i-1]) || rows > togetherRows || len(groups[len(groups)-1]) == togetherFiles {
			groups, rows = append(groups, nil), p.Rows
		}
		last := &groups[len(groups)-1]
		*last = append(*last, p)
	}
	return groups
}

// fits reports whether two files may be read as one.
func (p *Plan) fits(o *Plan) bool {
	return p.Feed.Several && p.Feed.Name == o.Feed.Name && p.Head.Format == data.Parquet && sameColumns(p.Head, o.Head)
}

func sameColumns(a, b data.Head) bool {
	return a.Format == b.Format && slices.Equal(a.Columns, b.Columns) && slices.Equal(a.Types, b.Types)
}

// errAlone is the error of files that must be imported one by one, because one of them affects
// another, or one needs handling that is not implemented for several files.
var errAlone = errors.New("these files cannot be imported together")

// ImportTogether imports files of fills in one transaction, and returns the receipt of each, as if
// they were imported one by one. If the result might differ, and on any other error, nothing is
// imported: the files then have to be imported one by one, which shows which of them has the error.
func (im *Importer) ImportTogether(ctx context.Context, plans []Plan, opts Options) ([]Receipt, error) {
	src, err := im.openTogether(ctx, plans)
	if err != nil {
		return nil, err
	}
	defer src.close()
	total, err := im.bring(ctx, src, opts)
	if err != nil {
		return nil, err
	}
	receipts := make([]Receipt, len(src.members))
	for i, m := range src.members {
		receipts[i] = m.receipt
	}
	receipts[len(receipts)-1].Warning = total.Warning
	return receipts, nil
}

// openTogether opens files that are read as one.
func (im *Importer) openTogether(ctx context.Context, plans []Plan) (_ *source, err error) {
	dir, err := os.MkdirTemp(im.DB.Dir().Tmp(), "import-*")
	if err != nil {
		return nil, err
	}
	first := &plans[0]
	src := &source{name: first.name(), feed: first.Feed, head: first.Head, dir: dir}
	defer func() {
		if err != nil {
			src.close()
		}
	}()
	var paths []string
	size := int64(0)
	for i, p := range plans {
		plain := filepath.Join(dir, fmt.Sprintf("plain-%d.%s", i, p.Head.Format))
		head, n, err := im.take(ctx, &p, plain)
		if err == nil && !sameColumns(head, first.Head) {
			err = errAlone // it was replaced meanwhile
		}
		if err != nil {
			return nil, err
		}
		size += n
		paths = append(paths, plain)
		src.members = append(src.members, &member{name: p.name(), end: size, rows: head.Rows})
	}
	src.plain = data.Source{Path: paths[0], Rest: paths[1:], Name: src.name, Format: first.Head.Format, Size: size,
		Cities: im.Feeds.Gazetteer(), Spill: dir, Memory: im.Memory}
	return src, nil
}

// member is one of several files that are imported together.
type member struct {
	name    string
	end     int64 // total size of the files up to this one
	rows    int64 // by its footer
	receipt Receipt
	staged  int64 // rows in s_fill
}

// memberSQL is SQL for the index of a row's file; 0 for a single file.
var memberSQL = "row >> " + strconv.Itoa(data.FileShift)

// together reports whether several files are imported.
func (j *fileImport) together() bool { return len(j.src.members) > 0 }

// aloneIf ends the import of several files if something was found for which they must be imported
// one by one.
func (j *fileImport) aloneIf(found bool) error {
	if found && j.together() {
		return errAlone
	}
	return nil
}

// aloneIfEqual is aloneIf for equal rows in two of the files.
func (j *fileImport) aloneIfEqual() error {
	if !j.together() {
		return nil
	}
	var found bool
	err := j.conn.QueryRowContext(j.ctx, statements.Get("EqualAcrossMembers", "@member", memberSQL)).Scan(&found)
	return errors.Join(err, j.aloneIf(found))
}

// receiptOf returns the receipt of a file by its index.
func (j *fileImport) receiptOf(member int) *Receipt {
	if j.together() {
		return &j.src.members[member].receipt
	}
	return &j.receipt
}

// byMember scans the rows of a query about the batch into dest, one for each file that has any, and
// calls f for each. For a single file there is one row.
func (j *fileImport) byMember(name string, f func() error, dest ...any) (err error) {
	member, group := "0", ""
	if j.together() {
		member, group = memberSQL, " GROUP BY ALL"
	}
	staged := "s_raw"
	if j.texts != nil {
		staged = "s_fill"
	}
	rows, err := j.conn.QueryContext(j.ctx, statements.Get(name, "@member", member, "@group", group, "@shift", strconv.Itoa(data.FileShift), "@staged", staged))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := f(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// countRecords counts the records of each file and returns the total.
func (j *fileImport) countRecords() (all int64, err error) {
	var member int
	var n int64
	err = j.byMember("RecordsByMember", func() error {
		r := j.receiptOf(member)
		r.Read, r.Lines.Records = n, n
		all += n
		return nil
	}, &member, &n)
	return all, err
}

// countMembers counts the staged rows of each file. The decrease since the last call is added to
// the count that as returns.
func (j *fileImport) countMembers(as func(*Receipt) *int64) error {
	if !j.together() {
		return nil
	}
	left := make([]int64, len(j.src.members))
	var member int
	var n int64
	err := j.byMember("StagedByMember", func() error {
		left[member] = n
		return nil
	}, &member, &n)
	for i, m := range j.src.members {
		if as != nil {
			*as(&m.receipt) += m.staged - left[i]
		}
		m.staged = left[i]
	}
	return err
}

// goneAsKnown returns the count for rows that dropKnown removed.
func (j *fileImport) goneAsKnown(r *Receipt) *int64 {
	if j.receipt.AlreadyThere > 0 {
		return &r.AlreadyThere
	}
	return &r.Identical
}

// sum adds the figures of one of several files to the total.
func (j *fileImport) sum(r *Receipt) {
	if t := &j.receipt; r != t {
		t.Inserted += r.Inserted
		t.Replaced += r.Replaced
	}
}

// finishMembers sets the fields of the receipts that are common to all files.
func (j *fileImport) finishMembers() {
	for _, m := range j.src.members {
		r := &m.receipt
		r.Rejected = map[string]int64{}
		r.Seconds = j.receipt.Seconds * float64(r.Read) / float64(max(j.receipt.Read, 1))
		r.RebuildNeeded = j.receipt.RebuildNeeded && !r.nothingNew()
	}
}

// nameAt returns the name of the file at the given share of all bytes; the last one if that is not
// known.
func (s *source) nameAt(share float64) string {
	for _, m := range s.members {
		if share >= 0 && share*float64(s.plain.Size) <= float64(m.end) {
			return m.name
		}
	}
	if n := len(s.members); n > 0 {
		return s.members[n-1].name
	}
	return s.name
}
