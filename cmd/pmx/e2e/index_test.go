package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/http/wire"

	"pmx/data/testfiles"
)

// publishedSQL returns the result of the statement in docs/index.md, in lines "name value".
func publishedSQL(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testfiles.Root(), "docs", "index.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```sql\n(.*?)```").FindSubmatch(text)
	if m == nil {
		t.Fatal("docs/index.md has no SQL")
	}
	return "SELECT name || ' ' || coalesce(value::VARCHAR, '-') FROM (" + string(m[1]) + ") AS published ORDER BY name"
}

func indexLine(name string, v *data.Micro) string {
	if v == nil {
		return name + " -"
	}
	return fmt.Sprintf("%s %d", name, int64(*v))
}

func TestIndexEqualsThePublishedSQLOnTheSampleVenue(t *testing.T) {
	v := readSample(t)
	query := publishedSQL(t)
	x := reply[wire.One[wire.PMXIndex]](v, "/pmx-index").Data
	got := []string{indexLine(x.Composite.Name, x.Composite.Value)}
	for _, i := range x.Indices {
		got = append(got, indexLine(i.Name, i.Value))
	}
	slices.Sort(got)
	if diff := cmp.Diff(v.table(query), got); diff != "" {
		t.Errorf("/pmx-index (-published SQL +API):\n%s", diff)
	}
	if strings.Contains(strings.Join(got, " "), "-Volume -") {
		t.Errorf("the sample has no volume index: %v", got)
	}
	// Four past hours: the last value in an hour is its close.
	h := reply[wire.PMXHistory](v, "/pmx-index/pmx-whale/history?limit=200")
	if h.Name != "PMX-Whale" || len(h.Data) != 168+32 {
		t.Fatalf("%s, %d rows", h.Name, len(h.Data))
	}
	for _, i := range []int{0, 57, 111, 198} {
		last := h.Data[i].Time.Add(time.Hour - 5*time.Minute).UnixMicro()
		past := strings.Replace(query, "max(ts) // 300000000 * 300000000 AS at", fmt.Sprintf("any_value(%d) AS at", last), 1)
		if line := indexLine("PMX-Whale", h.Data[i].Close); !slices.Contains(v.table(past), line) {
			t.Errorf("%s: %s, published SQL %v", h.Data[i].Time, line, v.table(past))
		}
	}
}
