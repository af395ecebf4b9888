package rollups

import "slices"

// top keeps the first n of the items offered to it, by a total order.
type top[T any] struct {
	n     int
	less  func(a, b *T) int // negative: a ranks before b
	items []T               // once there are n, a heap: no item ranks after its parent
}

func (h *top[T]) offer(item *T) {
	switch {
	case len(h.items) < h.n:
		h.items = append(h.items, *item)
		if h.full() {
			for i := h.n/2 - 1; i >= 0; i-- {
				h.sink(i)
			}
		}
	case h.less(item, &h.items[0]) < 0:
		h.items[0] = *item
		h.sink(0)
	}
}

// sink moves an item down until no item below it ranks after it.
func (h *top[T]) sink(i int) {
	for {
		last := 2*i + 1
		if last >= len(h.items) {
			return
		}
		if other := last + 1; other < len(h.items) && h.less(&h.items[last], &h.items[other]) < 0 {
			last = other
		}
		if h.less(&h.items[last], &h.items[i]) <= 0 {
			return
		}
		h.items[i], h.items[last] = h.items[last], h.items[i]
		i = last
	}
}

func (h *top[T]) full() bool { return len(h.items) >= h.n }

func (h *top[T]) sorted() []T {
	slices.SortFunc(h.items, func(a, b T) int { return h.less(&a, &b) })
	return h.items
}
