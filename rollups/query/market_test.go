package query

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/rollups/serving"
)

func TestNeighboursCutsAtTheWidestGaps(t *testing.T) {
	for _, c := range []struct {
		name string
		ids  []int32
		n    int
		want [][]int32
	}{
		{"one id", []int32{5}, 3, [][]int32{{5}}},
		{"a run without gaps stays whole", []int32{5, 6, 7}, 3, [][]int32{{5, 6, 7}}},
		{"every gap while there is room", []int32{1, 2, 10, 11, 30}, 3, [][]int32{{1, 2}, {10, 11}, {30}}},
		{"the widest of too many", []int32{1, 4, 100, 103, 1000}, 3, [][]int32{{1, 4}, {100, 103}, {1000}}},
		{"the first of equal ones", []int32{1, 3, 5, 7}, 2, [][]int32{{1}, {3, 5, 7}}},
		{"one list alone", []int32{1, 50, 900}, 1, [][]int32{{1, 50, 900}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, neighbours(c.ids, c.n)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAmongBoundsEveryList(t *testing.T) {
	for _, c := range []struct {
		list []int32
		want string
	}{
		{nil, "false"},
		{[]int32{7}, "token BETWEEN 7 AND 7"},
		{[]int32{8, 7, 9}, "token BETWEEN 7 AND 9"},
		{[]int32{7, 9}, "(token BETWEEN 7 AND 9 AND token IN (7, 9))"},
	} {
		if got := among("token", c.list); got != c.want {
			t.Errorf("%v: got %s, want %s", c.list, got, c.want)
		}
	}
}

func TestLookBackFollowsTheMarketsPace(t *testing.T) {
	const minute = hourLength / 60
	for _, c := range []struct {
		name   string
		whole  int64 // µs from the first to the last fill
		trades int64
		want   int64
	}{
		{"as few as are wanted: all of it", 30 * dayLength, 20, 30*dayLength + 1},
		{"twice what an even pace needs", 10*dayLength - 1, 400, dayLength},
		{"no less than a block", 10 * dayLength, 4_000_000, 10 * minute},
		{"no more than there is", 5 * minute, 1_000, 5*minute + 1},
	} {
		f := serving.Figures{FirstTS: 1_000, LastTS: 1_000 + c.whole, Trades: c.trades}
		if got := lookBack(&f, 20); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}
