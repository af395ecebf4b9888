package follow_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pmx/data/testfiles"
	"pmx/rollups/keeper"
)

// mostShown is how many rows of a difference are shown.
const mostShown = 8

// rowsDiffer tells how rows, each a JSON object, differ from those that are wanted, "" where they
// do not: rows that are the same but for some columns are shown as those columns alone.
func rowsDiffer(want, got []string) string {
	missing, more := without(want, got), without(got, want)
	if len(missing)+len(more) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows, want %d; %d missing, %d not wanted\n", len(got), len(want), len(missing), len(more))
	for i, row := range missing[:min(len(missing), mostShown)] {
		if i < len(more) {
			fmt.Fprintf(&b, "%s\n", columnsDiffer(row, more[i]))
		} else {
			fmt.Fprintf(&b, "- %s\n", row)
		}
	}
	for _, row := range more[min(len(missing), len(more)):min(len(more), len(missing)+mostShown)] {
		fmt.Fprintf(&b, "+ %s\n", row)
	}
	return b.String()
}

// without are the rows of a list that another does not have, each as often as it has it more.
func without(list, other []string) (out []string) {
	have := map[string]int{}
	for _, row := range other {
		have[row]++
	}
	for _, row := range list {
		if have[row]--; have[row] < 0 {
			out = append(out, row)
		}
	}
	slices.Sort(out)
	return out
}

// columnsDiffer tells the columns in which two rows differ, and what the rows begin with.
func columnsDiffer(want, got string) string {
	var w, g map[string]json.RawMessage
	if json.Unmarshal([]byte(want), &w) != nil || json.Unmarshal([]byte(got), &g) != nil {
		return "- " + want + "\n+ " + got
	}
	out := fmt.Sprintf("%.60s…:", want)
	for _, name := range slices.Sorted(maps.Keys(w)) {
		if string(w[name]) != string(g[name]) {
			out += fmt.Sprintf(" %s %s, want %s;", name, g[name], w[name])
		}
	}
	return out
}

// alsoVerify verifies in a long run, for tests of something else: that the rollups are those of
// the facts, however these came in, is shown in a short one by the tests of package rollups.
func alsoVerify(t testing.TB, k *keeper.Keeper) {
	t.Helper()
	if testfiles.Long() {
		mustVerify(t, k)
	}
}
