// Package pages has what clients of paged lists share: the errors of invalid pages, and the
// detection of lists that do not end.
package pages

import (
	"context"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"pmx/data/upstream/fetch"
)

// Asker sends requests to a host: *fetch.Host and *fetch.Caller.
type Asker interface {
	Do(ctx context.Context, r fetch.Request) (fetch.Answer, error)
}

// ForeignError is the error of a page with a record that was not requested: a filter was ignored,
// so nothing on the page is reliable.
type ForeignError struct {
	Path  string
	What  string // the record, by its id
	Asked string // the condition that it does not meet
}

// Error names the record.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s: %s was not requested: %s", e.Path, e.What, e.Asked)
}

// LoopError is the error of a list that does not end: a cursor or a whole page is repeated.
type LoopError struct {
	Path   string
	Cursor string // the repeated cursor, or that of the repeated page
	Page   bool   // the page is repeated under another cursor
}

// Error says what is repeated.
func (e *LoopError) Error() string {
	if e.Page {
		return fmt.Sprintf("%s: the page at cursor %q is a repeat", e.Path, e.Cursor)
	}
	return fmt.Sprintf("%s: the cursor %q is a repeat", e.Path, e.Cursor)
}

// ShapeError is the error of a response that is JSON but does not have the expected shape.
type ShapeError struct {
	Path string
	Why  string
}

// Error returns the path and the reason.
func (e *ShapeError) Error() string { return e.Path + ": " + e.Why }

// Seen has the cursors and pages of a scan. The zero value is for the start of a scan.
type Seen struct{ cursors, pages map[uint64]bool }

// Check records the page at cursor, with the cursor next of the following page, "" at the end, and
// the ids of its records. The error is a *LoopError if the page or next is a repeat. Pages are
// compared by their ids only, because figures change from one request to the next.
func (s *Seen) Check(path, cursor, next string, ids []string) error {
	if s.cursors == nil {
		s.cursors, s.pages = map[uint64]bool{}, map[uint64]bool{}
	}
	s.cursors[xxhash.Sum64String(cursor)] = true
	if next != "" && s.cursors[xxhash.Sum64String(next)] {
		return &LoopError{Path: path, Cursor: next}
	}
	if len(ids) == 0 {
		return nil
	}
	d := xxhash.New()
	for _, id := range ids {
		_, _ = d.WriteString(id + " ") // a hash never fails
	}
	if s.pages[d.Sum64()] {
		return &LoopError{Path: path, Cursor: cursor, Page: true}
	}
	s.pages[d.Sum64()] = true
	return nil
}
