package spill

import (
	"encoding/binary"
	"errors"
	"io"
)

// Rows is a set of row numbers that can be queried in ascending order.
type Rows struct {
	sorter *Sorter
	cursor *Cursor
	next   uint64
	end    bool
}

// NewRows returns an empty set; see New.
func NewRows(dir string, budget int) *Rows { return &Rows{sorter: New(dir, budget)} }

// Add adds a number to the set.
func (r *Rows) Add(n uint64) error {
	return r.sorter.Add(binary.BigEndian.AppendUint64(nil, n), nil)
}

// Has reports whether n is in the set. After the first call, Add must not be called, and n must not
// be less than in an earlier call.
func (r *Rows) Has(n uint64) (bool, error) {
	if r.cursor == nil {
		var err error
		if r.cursor, err = r.sorter.Sorted(); err != nil {
			return false, err
		}
		if err := r.step(); err != nil {
			return false, err
		}
	}
	for !r.end && r.next < n {
		if err := r.step(); err != nil {
			return false, err
		}
	}
	return !r.end && r.next == n, nil
}

func (r *Rows) step() error {
	key, _, err := r.cursor.Next()
	if errors.Is(err, io.EOF) {
		r.end = true
		return nil
	}
	if err == nil && len(key) != 8 {
		err = ErrDamaged
	}
	if err == nil {
		r.next = binary.BigEndian.Uint64(key)
	}
	return err
}

// Close removes the temporary file.
func (r *Rows) Close() error { return r.sorter.Close() }
