package rollups

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Rows by id equal those of a map, whatever is added and removed.
func TestRowsByID(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var rows rowsByID[int64]
		want := map[int32]int64{}
		ids := rapid.Int32Range(0, rapid.Int32Range(1, 3*rowBlock).Draw(rt, "ids"))
		for i := range rapid.IntRange(0, 4*rowBlock).Draw(rt, "steps") {
			id := ids.Draw(rt, "id")
			if _, there := want[id]; there && rapid.IntRange(0, 2).Draw(rt, "remove") == 0 {
				rows.remove(id)
				delete(want, id)
				continue
			}
			*rows.edit(id) += int64(i)
			want[id] += int64(i)
		}
		got := map[int32]int64{}
		for id, row := range rows.all() {
			if got[id] = *row; rows.of(id) != row {
				rt.Errorf("the row of %d is found elsewhere", id)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || rows.len != len(want) {
			rt.Errorf("%d rows, -want +got:\n%s", rows.len, diff)
		}
		for id := range int32(3*rowBlock + 2) {
			if _, there := want[id]; !there && rows.of(id) != nil {
				rt.Errorf("%d has a row", id)
			}
		}
	})
}
