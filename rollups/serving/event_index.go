package serving

import (
	"hash/maphash"
	"slices"
)

// eventNames are the markets of each event slug, or of each event id.
type eventNames struct {
	seed    maphash.Seed
	table   *idTable
	names   []string
	members shared[[]int32] // market ids, ascending, by the name's place in names
}

// of lists the markets that carry name.
func (e *eventNames) of(name string) []int32 {
	if e.table == nil {
		return nil
	}
	i, known := e.table.find(maphash.String(e.seed, name), func(i int) bool { return i < len(e.names) && e.names[i] == name })
	if !known {
		return nil
	}
	if m := e.members.at(i); m != nil {
		return *m
	}
	return nil
}

// eventIndex is the writer's side of eventNames.
type eventIndex struct {
	seed    maphash.Seed `image:"-"`
	table   *idTable     `image:"-"` // by hashes with seed
	names   []string
	members paged[[]int32]
	outside []int32 // by name: how many members belong to an event of another name
	inUse   int     // names with members, all of their own
	last    int     `image:"-"` // the place that was found last
}

func newEventIndex() eventIndex {
	return eventIndex{seed: maphash.MakeSeed(), table: newIDTable(1024)}
}

func (x *eventIndex) seal() eventNames {
	return eventNames{seed: x.seed, table: x.table, names: x.names, members: x.members.seal()}
}

// place returns the place of name, a new one if it was never seen.
func (x *eventIndex) place(name string) int {
	if x.last >= len(x.names) || x.names[x.last] != name { // else it is the event of the market before
		x.last = x.find(name)
	}
	return x.last
}

// find is place for a name that was not found last.
func (x *eventIndex) find(name string) int {
	hash := maphash.String(x.seed, name)
	if i, known := x.table.find(hash, func(i int) bool { return x.names[i] == name }); known {
		return i
	}
	if x.table.full(len(x.names)) {
		bigger := newIDTable(uint64(len(x.table.slots)) * 2)
		for i, n := range x.names {
			bigger.insert(maphash.String(x.seed, n), i)
		}
		x.table = bigger
	}
	x.names, x.outside = append(x.names, name), append(x.outside, 0)
	x.table.insert(hash, len(x.names)-1)
	return len(x.names) - 1
}

// restored makes the names findable after all but table was read from an image.
func (x *eventIndex) restored() {
	size := 1024
	for size < 2*(len(x.names)+1) {
		size *= 2
	}
	x.seed, x.table = maphash.MakeSeed(), newIDTable(uint64(size))
	for i, name := range x.names {
		x.table.insert(maphash.String(x.seed, name), i)
	}
}

// add notes that market carries name, and returns the name as others share it. elsewhere: the
// market belongs to an event of another name.
func (x *eventIndex) add(name string, market int32, elsewhere bool) string {
	if name == "" {
		return ""
	}
	i := x.place(name)
	x.count(i, -1)
	m := x.members.edit(i)
	if n := len(*m); n == 0 || (*m)[n-1] < market {
		*m = append(*m, market) // beyond what any snapshot sees of the array
	} else if at, found := slices.BinarySearch(*m, market); !found {
		*m = slices.Insert(slices.Clip(*m), at, market)
	}
	if elsewhere {
		x.outside[i]++
	}
	x.count(i, 1)
	return x.names[i]
}

// remove undoes add.
func (x *eventIndex) remove(name string, market int32, elsewhere bool) {
	if name == "" {
		return
	}
	i := x.place(name)
	x.count(i, -1)
	m := x.members.edit(i)
	*m = slices.DeleteFunc(slices.Clone(*m), func(other int32) bool { return other == market })
	if elsewhere {
		x.outside[i]--
	}
	x.count(i, 1)
}

func (x *eventIndex) count(i, d int) {
	if m := x.members.at(i); m != nil && len(*m) > 0 && x.outside[i] == 0 {
		x.inUse += d
	}
}

// file files m under its event, and removes old from its former event.
func (b *CatalogBuilder) file(old, m *Market) {
	if old != nil {
		if old.EventSlug == m.EventSlug && old.EventID == m.EventID {
			m.EventSlug, m.EventID = old.EventSlug, old.EventID
			b.shareTitle(m)
			return
		}
		b.slugs.remove(old.EventSlug, m.ID, false)
		b.ids.remove(old.EventID, m.ID, old.EventSlug != "")
	}
	m.EventSlug = b.slugs.add(m.EventSlug, m.ID, false)
	m.EventID = b.ids.add(m.EventID, m.ID, m.EventSlug != "")
	b.shareTitle(m)
}

// shareTitle lets m use the title that another market of its event has.
func (b *CatalogBuilder) shareTitle(m *Market) {
	index, name := &b.slugs, m.EventSlug
	if name == "" {
		if index, name = &b.ids, m.EventID; name == "" {
			return
		}
	}
	members := *index.members.at(index.place(name))
	for _, id := range []int32{members[0], members[len(members)-1]} {
		if other := b.Market(id); other != nil && other.EventTitle == m.EventTitle {
			m.EventTitle = other.EventTitle
			return
		}
	}
}
