package ingest

import (
	"database/sql"
	"errors"
	"strconv"
)

// pageRows is the number of rows of a query that are in memory at a time.
const pageRows = 50_000

// pages reads the rows of a query in order. The driver keeps the whole result of a query in memory,
// so a long one is read page by page.
type pages struct {
	j            *fileImport
	query, order string // order has columns of the query; rows that are equal by it must be equal
	rows         *sql.Rows
	page, given  int64 // number of pages opened, and of rows returned of the last one
}

func (j *fileImport) pages(query, order string) *pages {
	return &pages{j: j, query: query, order: order}
}

// next scans the next row into dest; false after the last.
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

// each scans every row into dest and calls f. It stops at the first error.
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

// during runs f, which reads the rows. It closes the page even after a panic: a database with open
// rows cannot be reopened.
func (p *pages) during(f func() error) (err error) {
	defer func() { err = errors.Join(err, p.close()) }()
	return f()
}

// open opens the next page. Mostly there is only one; further pages are read from a table, so that
// the query is not run for each.
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

// close closes the open page.
func (p *pages) close() error {
	if p.rows == nil {
		return nil
	}
	rows := p.rows
	p.rows = nil
	return rows.Close()
}
