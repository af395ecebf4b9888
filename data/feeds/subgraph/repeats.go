package subgraph

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/data/feeds/spill"
)

// repeatFinder finds rows of a file that repeat an event. It remembers the events. If there are too
// many, it reads the file once more to find all such rows. It is used for one reading of the file,
// whose context it keeps.
type repeatFinder struct {
	ctx    context.Context
	src    data.Source
	open   func() (io.ReadCloser, error)
	number uint64 // of the row
	keys   map[[32]byte]bool
	rows   *spill.Rows // nil while there are few keys
}

// perKey is about how many bytes an event takes in the map of keys.
const perKey = 128

// repeated reports whether an earlier row has the same event.
func (s *repeatFinder) repeated(e *event) (bool, error) {
	if e.ID == "" {
		return false, nil
	}
	if s.rows != nil {
		return s.rows.Has(s.number)
	}
	key := e.key()
	if s.keys[key] {
		return true, nil
	}
	s.keys[key] = true
	if len(s.keys) <= cmp.Or(s.src.Memory, spill.Budget)/perKey {
		return false, nil
	}
	s.keys = nil
	r, err := s.open()
	if err != nil {
		return false, err
	}
	s.rows, err = repeats(s.ctx, s.src, r)
	return false, errors.Join(err, r.Close())
}

func (s *repeatFinder) close() error {
	if s.rows == nil {
		return nil
	}
	return s.rows.Close()
}

// repeats returns the numbers of rows that repeat an earlier one.
func repeats(ctx context.Context, src data.Source, r io.Reader) (rows *spill.Rows, err error) {
	keys := spill.New(src.Spill, src.Memory)
	defer func() { err = errors.Join(err, keys.Close()) }()
	number := uint64(0)
	err = eachEvent(ctx, src, r, shape.Discard{}, func(_ int64, raw json.RawMessage) error {
		number++
		var e event
		if json.Unmarshal(raw, &e) != nil || e.ID == "" {
			return nil
		}
		key := e.key()
		return keys.Add(key[:], binary.BigEndian.AppendUint64(nil, number))
	})
	rows = spill.NewRows(src.Spill, src.Memory)
	if err == nil {
		err = others(keys, rows)
	}
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return rows, nil
}

// others adds all rows except for the first of every key to rows.
func others(keys *spill.Sorter, rows *spill.Rows) error {
	var last [32]byte
	first := true
	return keys.Each(func(key, value []byte) error {
		if len(key) != len(last) || len(value) != 8 {
			return spill.ErrDamaged
		}
		if !first && [32]byte(key) == last {
			return rows.Add(binary.BigEndian.Uint64(value))
		}
		first, last = false, [32]byte(key)
		return nil
	})
}
