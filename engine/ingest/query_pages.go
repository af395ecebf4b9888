package ingest

import (
	"database/sql"
	"errors"
	"strconv"
)

// pageRows is how many rows of a query are held at a time.
const pageRows = 50_000

// pages gives the rows of a query in order. The driver holds the whole result of a query
// in memory, so a long one is read page by page.
type pages struct {
	j            *fileImport
	query, order string // order names columns of the query: equal rows may follow each other, others may not be equal by it
	rows         *sql.Rows
	page, given  int64 // how many pages were opened, and rows of the last one given
}

func (j *fileImport) pages(query, order string) *pages {
	return &pages{j: j, query: query, order: order}
}

// next scans the next row into dest; false behind the last.
func (p *pages) next(dest ...any) (bool, error) {
	for {
		if p.rows == nil {
			if err := p.open(); err != nil {
				return false, err
			}
		}
		if p.rows.Next() {
			p.given++
			return true, p.rows.Scan(dest...)
		}
		err := errors.Join(p.rows.Err(), p.close())
		if err != nil || p.given < pageRows {
			return false, err
		}
	}
}

// each scans every row into dest and calls f with it there. It ends with the first error.
func (p *pages) each(f func() error, dest ...any) error {
	return p.during(func() error {
		for {
			more, err := p.next(dest...)
			if err == nil && more {
				err = f()
			}
			if err != nil || !more {
				return err
			}
		}
	})
}

// during runs f, which reads the rows. No page stays open behind it, or behind its panic: a database of which
// rows are open does not open again.
func (p *pages) during(f func() error) (err error) {
	defer func() { err = errors.Join(err, p.close()) }()
	return f()
}

// open opens the next page. The first one is all there is, mostly; the others come
// from a table, so that the query is not run for each.
func (p *pages) open() (err error) {
	replace := []string{"@query", p.query, "@order", p.order, "@from", strconv.FormatInt(p.page*pageRows, 10), "@rows", strconv.Itoa(pageRows)}
	name := "FirstPage"
	if p.page > 0 {
		name = "Page"
	}
	if p.page == 1 {
		if err := p.j.exec("Pages", replace...); err != nil {
			return err
		}
	}
	p.rows, err = p.j.conn.QueryContext(p.j.ctx, statements.Get(name, replace...)) //nolint:rowserrcheck // next asks for it
	p.page, p.given = p.page+1, 0
	return err
}

// close lets go of the page that is open.
func (p *pages) close() error {
	if p.rows == nil {
		return nil
	}
	rows := p.rows
	p.rows = nil
	return rows.Close()
}
