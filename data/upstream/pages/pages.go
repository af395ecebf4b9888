// Package pages holds what all of the venue's paged lists share: what a page is refused
// for, and what notices that a list does not end.
package pages

import (
	"context"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"pmx/data/upstream/fetch"
)

// Asker is a host that is asked: *fetch.Host.
type Asker interface {
	Do(ctx context.Context, r fetch.Request) (fetch.Answer, error)
}

// ForeignError is a page that has what was not asked for: a filter was ignored, and of
// whatever else the page says nothing is to be believed.
type ForeignError struct {
	Path  string
	What  string // the record, by its id
	Asked string // what it is not
}

// Error names the record.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s: %s was not asked for: %s", e.Path, e.What, e.Asked)
}

// LoopError is a list that does not end: its cursor, or a whole page, was there before.
type LoopError struct {
	Path   string
	Cursor string // that was there before, or of the page that was
	Page   bool   // the page was there, under another cursor
}

// Error reports what came twice.
func (e *LoopError) Error() string {
	if e.Page {
		return fmt.Sprintf("%s: the page behind cursor %q was there before", e.Path, e.Cursor)
	}
	return fmt.Sprintf("%s: the cursor %q was there before", e.Path, e.Cursor)
}

// ShapeError is an answer that is JSON and not what the path answers.
type ShapeError struct {
	Path string
	Why  string
}

// Error reports what is missing.
func (e *ShapeError) Error() string { return e.Path + ": " + e.Why }

// Seen are the pages of one scan through a list. The zero value is before the first.
type Seen struct{ cursors, pages map[uint64]bool }

// Check takes in the page behind cursor, which leads on to next, "" at the end, and has the
// records of these ids. It is a *LoopError where the page or next was there before. Pages
// are the same if their records are: figures in them move from one request to the next.
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
		_, _ = d.WriteString(id + " ") // never fails
	}
	if s.pages[d.Sum64()] {
		return &LoopError{Path: path, Cursor: cursor, Page: true}
	}
	s.pages[d.Sum64()] = true
	return nil
}
