package serving

import (
	"slices"
	"sort"
)

// settler merges lists of sums: those of one key become one, and the keys ascend.
type settler[T any] struct {
	compare func(x, y *T) int
	merge   func(into, other *T)
	list    []T
	ends    []int // of the lists that ascend in list
	aside   []T   // of two lists, the shorter one while they are merged
}

// settle merges the elements of list that compare as equal and sorts it, in place. It takes one step for each element
// of a list that is in order, and few more for one that consists of few lists in order.
func settle[T any](list []T, compare func(x, y *T) int, merge func(into, other *T)) []T {
	s := settler[T]{compare: compare, merge: merge, list: list}
	for i := 1; i < len(list); i++ {
		if compare(&list[i-1], &list[i]) >= 0 {
			s.ends = append(s.ends, i)
		}
	}
	if s.ends == nil {
		return list
	}
	s.ends = append(s.ends, len(list))
	return list[:s.mergeLists(0, 0, len(s.ends))]
}

// mergeLists merges the ascending lists from one to another, the first of which begins at at, and returns where the merged one ends,
// which begins there too.
func (s *settler[T]) mergeLists(at, from, to int) (end int) {
	if to-from == 1 {
		return s.ends[from]
	}
	half := at + (s.ends[to-1]-at)/2 // of the elements: a long list is merged once
	mid := from + 1 + sort.SearchInts(s.ends[from+1:to-1], half)
	begin := s.ends[mid-1]
	left := s.mergeLists(at, from, mid)
	right := s.mergeLists(begin, mid, to)
	if left-at < right-begin {
		return s.forward(at, left, begin, right)
	}
	return s.backward(at, left, begin, right)
}

// backward merges the shorter list from begin to right into the one from at to left.
func (s *settler[T]) backward(at, left, begin, right int) (end int) {
	s.aside = s.absent(s.list[at:left], s.list[begin:right])
	end = left + len(s.aside)
	for to, i, j := end-1, left-1, len(s.aside)-1; j >= 0; to-- {
		if i >= at && s.compare(&s.list[i], &s.aside[j]) > 0 {
			s.list[to] = s.list[i]
			i--
		} else {
			s.list[to] = s.aside[j]
			j--
		}
	}
	return end
}

// forward merges the shorter list from at to left into the one from begin to right.
func (s *settler[T]) forward(at, left, begin, right int) (end int) {
	s.aside = s.absent(s.list[begin:right], s.list[at:left])
	end = at
	for i := range s.aside {
		n, _ := s.find(s.list[begin:right], &s.aside[i])
		copy(s.list[end:], s.list[begin:begin+n])
		end, begin = end+n, begin+n
		s.list[end] = s.aside[i]
		end++
	}
	return end + copy(s.list[end:], s.list[begin:right])
}

// absent merges those elements of some that list has into list, and returns the others.
func (s *settler[T]) absent(list, some []T) []T {
	out := slices.Grow(s.aside[:0], len(some))
	for i := range some {
		n, found := s.find(list, &some[i])
		if list = list[n:]; found {
			s.merge(&list[0], &some[i])
		} else {
			out = append(out, some[i])
		}
	}
	return out
}

// find returns how many elements of a list in order come before x, most likely few, and whether x is next.
func (s *settler[T]) find(list []T, x *T) (n int, found bool) {
	step := 1
	for n+step <= len(list) && s.compare(&list[n+step-1], x) < 0 {
		n += step
		step *= 2
	}
	for end := min(n+step, len(list)); n < end; {
		mid := (n + end) / 2
		switch c := s.compare(&list[mid], x); {
		case c < 0:
			n = mid + 1
		case c == 0:
			return mid, true
		default:
			end = mid
		}
	}
	return n, false
}
