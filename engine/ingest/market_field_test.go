package ingest

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/testfiles"
)

// drawMarket draws a record without every second field.
func drawMarket(rng *rand.Rand) (m data.Market) {
	v := reflect.ValueOf(&m).Elem()
	for f := range v.NumField() {
		if rng.IntN(2) == 0 {
			continue
		}
		switch p := v.Field(f).Addr().Interface().(type) {
		case *string:
			*p = fmt.Sprint("v", rng.IntN(5))
		case *time.Time:
			*p = time.Unix(1_700_000_000+int64(rng.IntN(5)), 0).UTC()
		case **bool:
			b := rng.IntN(2) == 0
			*p = &b
		case **data.Micro:
			n := data.Micro(rng.IntN(5) * 100_000)
			*p = &n
		case *[]string:
			*p = make([]string, 1+rng.IntN(2))
			(*p)[0] = fmt.Sprint(rng.IntN(3))
		case *[]data.Micro:
			*p = []data.Micro{data.Micro(rng.IntN(3))}
		case *data.QuoteFields:
			*p = data.QuoteFields(rng.IntN(8))
		case *data.Untaken:
			*p = []data.Untaken{data.UntakenOpen, data.UntakenOracle}[rng.IntN(2)]
		}
	}
	if m.CategorySource = ""; m.Category != "" {
		m.CategorySource = []string{"slug", "field", "tag"}[rng.IntN(3)]
	}
	if m.Stub = rng.IntN(6) == 0; m.Stub {
		m = data.Market{Stub: true, Question: m.Question, Slug: m.Slug, Icon: m.Icon, EventSlug: m.EventSlug}
	}
	m.UpdatedAt, m.Unquoted = time.Time{}, time.Time{}
	if hour := rng.IntN(4); hour > 0 && !m.Stub {
		m.UpdatedAt = time.Unix(1_800_000_000+int64(hour)*3600, 0).UTC()
	}
	soundMarket(&m)
	return m
}

// The records of a file give the same market in any order and grouping, and every field is that of
// the newest record that has it.
func TestRecordsOfAFileComeToOneMarketInAnyOrder(t *testing.T) {
	testfiles.InLong(t, "TestAnyOrderAndSplitOfRecordsGivesOneMarket imports random records from several files")
	rng := rand.New(rand.NewPCG(5, 11))
	rounds := 2_000
	if testfiles.Long() {
		rounds = 40_000
	}
	for range rounds {
		recs := []data.Market{drawMarket(rng), drawMarket(rng), drawMarket(rng)}
		want := rowOf(t, mergeMarket(mergeMarket(recs[0], recs[1]), recs[2]))
		for _, o := range [][3]int{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			for _, got := range []data.Market{mergeMarket(mergeMarket(recs[o[0]], recs[o[1]]), recs[o[2]]),
				mergeMarket(recs[o[0]], mergeMarket(recs[o[1]], recs[o[2]]))} {
				if row := rowOf(t, got); !reflect.DeepEqual(row, want) {
					t.Fatalf("order %v of %+v:\n%v\nwant\n%v", o, recs, row, want)
				}
			}
		}
		checkNewest(t, recs)
	}
}

// checkNewest compares the fields of merged records with their definition.
func checkNewest(t *testing.T, recs []data.Market) {
	t.Helper()
	got := mergeMarket(mergeMarket(recs[0], recs[1]), recs[2])
	for i, f := range marketFields {
		var best *data.Market
		for k := range recs {
			m := &recs[k]
			if !f.said(m) {
				continue
			}
			order := func(a, b *data.Market) []int64 {
				rank := int64(0)
				if i == categoryAt {
					rank = int64(categoryRank(a))
				}
				return []int64{rank, a.Version(), int64(f.compare(a, b))}
			}
			if best == nil || slices.Compare(order(m, best), order(best, m)) > 0 {
				best = m
			}
		}
		switch {
		case best == nil && got.Versions[i] != data.Unsaid:
			t.Fatalf("%s of %+v has version %d", f.column, recs, got.Versions[i])
		case best != nil && (got.Versions[i] != best.Version() || f.compare(best, &got) != 0):
			t.Fatalf("%s of %+v is of version %d, want %d", f.column, recs, got.Versions[i], best.Version())
		}
	}
}

func rowOf(t *testing.T, m data.Market) []driver.Value {
	t.Helper()
	row, err := marketRow(m)
	if err != nil {
		t.Fatal(err)
	}
	return append(row, m.Untaken)
}

// Every column that comes from records is a field, or a side of one.
func TestEveryMergedColumnIsAField(t *testing.T) {
	others := []string{"category_source", "best_ask"}
	for _, c := range mergedColumns {
		if fieldAt(c) < 0 && !slices.Contains(others, c) {
			t.Errorf("%s has no field", c)
		}
	}
	if got, want := len(marketFields)+len(others), len(mergedColumns); got != want {
		t.Errorf("%d fields, %d columns", got, want)
	}
}

// TestListsAreStoredAsJSON: what is written without encoding/json is what encoding/json writes.
func TestListsAreStoredAsJSON(t *testing.T) {
	for c := range rune(0x100) {
		checkListText(t, []string{string(c), "b" + string(c)})
		checkListText(t, []string{string([]byte{byte(c)})})
	}
	checkListText(t, []string{"Yes", "No, thanks", ""})
	checkListText(t, []string{"\u2028", "°F", "<b>"})
	prices := []data.Micro{0, 1, 15_000, 500_000, data.One, -1, 123_456_789, math.MaxInt64, math.MinInt64}
	want, err := json.Marshal(prices)
	if got := pricesText(prices); err != nil || got != string(want) {
		t.Errorf("prices are stored as %v, want %s: %v", got, want, err)
	}
	if got, err := listText(nil); got != nil || err != nil || pricesText(nil) != nil {
		t.Errorf("an empty list is stored as %v, %v", got, err)
	}
}

func checkListText(t *testing.T, list []string) {
	t.Helper()
	want, err := json.Marshal(list)
	if got, gotErr := listText(list); err != nil || gotErr != nil || got != string(want) {
		t.Errorf("%q is stored as %v, want %s: %v, %v", list, got, want, gotErr, err)
	}
}
