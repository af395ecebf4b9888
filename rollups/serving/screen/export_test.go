package screen

import "pmx/data"

// TopShared is Top with a second picker from the second chunk on.
func (c *Columns) TopShared(f *Filter, o Order, after *Place, n int, condition func(id int32) data.Hash) []int32 {
	return c.top(f, o, after, n, condition, 1)
}
