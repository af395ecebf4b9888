package rollups

import (
	"container/heap"
	"slices"
)

// top keeps the first n of what it is offered, by an order that is total.
type top[T any] struct {
	n     int
	less  func(a, b *T) int // negative: a ranks before b
	items []T
}

func (h *top[T]) Len() int           { return len(h.items) }
func (h *top[T]) Less(i, j int) bool { return h.less(&h.items[i], &h.items[j]) > 0 } // the worst on top
func (h *top[T]) Swap(i, j int)      { h.items[i], h.items[j] = h.items[j], h.items[i] }
func (h *top[T]) Push(x any)         { h.items = append(h.items, x.(T)) }
func (h *top[T]) Pop() any {
	last := h.items[len(h.items)-1]
	h.items = h.items[:len(h.items)-1]
	return last
}

func (h *top[T]) offer(item *T) {
	if len(h.items) < h.n {
		heap.Push(h, *item)
		return
	}
	if h.less(item, &h.items[0]) < 0 {
		h.items[0] = *item
		heap.Fix(h, 0)
	}
}

func (h *top[T]) full() bool { return len(h.items) >= h.n }

func (h *top[T]) sorted() []T {
	slices.SortFunc(h.items, func(a, b T) int { return h.less(&a, &b) })
	return h.items
}
