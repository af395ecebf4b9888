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

// mostShown is the maximum number of rows of a difference that are shown.
const mostShown = 8

// rowsDiffer describes how rows, each a JSON object, differ from the wanted ones; "" if they do
// not. Of rows that differ in some columns only these are shown.
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

// without returns the rows of a list that another does not have, or has less often.
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

// columnsDiffer describes the columns in which two rows differ, and the beginning of the rows.
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

// alsoVerify runs verify in a long run, for tests of other things. In a short run, the tests of
// package rollups show that rollups follow from the facts however these were imported.
func alsoVerify(t testing.TB, k *keeper.Keeper) {
	t.Helper()
	if testfiles.Long() {
		mustVerify(t, k)
	}
}
