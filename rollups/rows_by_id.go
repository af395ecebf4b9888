package rollups

import "iter"

// rowsByID has a row for some of the wallets or tokens. The database numbers these from 0, so a row is found through an
// array by id, which takes a fraction of the time and memory of a map. Rows are in blocks: adding one copies none of the
// others. The zero value has no rows.
type rowsByID[T any] struct {
	places []int32 // by id: 1 + the place of its row, 0 for none
	blocks []*[rowBlock]idRow[T]
	len    int
}

// rowBlock is how many rows a block has.
const rowBlock = 256

type idRow[T any] struct {
	id  int32
	row T
}

func (r *rowsByID[T]) at(place int) *idRow[T] { return &r.blocks[place/rowBlock][place%rowBlock] }

// of returns the row of id; nil if it has none. It is valid until a row is removed.
func (r *rowsByID[T]) of(id int32) *T {
	if int(id) >= len(r.places) || r.places[id] == 0 {
		return nil
	}
	return &r.at(int(r.places[id]) - 1).row
}

// edit returns the row of id, which is zero at first.
func (r *rowsByID[T]) edit(id int32) *T {
	if row := r.of(id); row != nil {
		return row
	}
	if missing := int(id) + 1 - len(r.places); missing > 0 {
		r.places = append(r.places, make([]int32, missing)...)
	}
	if r.len == len(r.blocks)*rowBlock {
		r.blocks = append(r.blocks, new([rowBlock]idRow[T]))
	}
	p := r.at(r.len)
	*p = idRow[T]{id: id}
	r.len++
	r.places[id] = int32(r.len)
	return &p.row
}

// remove removes the row of id, which must have one. Another row takes its place.
func (r *rowsByID[T]) remove(id int32) {
	place := r.places[id]
	r.len--
	last := r.at(r.len)
	*r.at(int(place) - 1), r.places[last.id] = *last, place
	r.places[id] = 0
	r.blocks = r.blocks[:(r.len+rowBlock-1)/rowBlock]
}

// all gives every row with its id, in no order.
func (r *rowsByID[T]) all() iter.Seq2[int32, *T] {
	return func(yield func(int32, *T) bool) {
		for i := range r.len {
			if p := r.at(i); !yield(p.id, &p.row) {
				return
			}
		}
	}
}
