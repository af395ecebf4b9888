package screen_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"pmx/data"
	"pmx/rollups/serving/screen"
)

const benchMarkets = 1_000_000

// million is an invented venue of a million markets, made once: most of them have ended, a few per
// cent are traded today.
var million = sync.OnceValue(func() *screen.Columns {
	b := screen.NewBuilder()
	r := rand.New(rand.NewPCG(3, 4))
	for id := range benchMarkets {
		b.Set(int32(id), benchRow(r, id))
	}
	return b.Seal()
})

func benchCondition(id int32) (h data.Hash) {
	binary.BigEndian.PutUint64(h[:], (uint64(id)+1)*0x9e3779b97f4a7c15)
	return h
}

func benchRow(r *rand.Rand, id int) *screen.Row {
	row := &screen.Row{Condition: benchCondition(int32(id))}
	v := &row.Values
	open := r.IntN(benchMarkets) < id/20
	row.Class = screen.Class{Category: []string{"sports", "crypto", "politics", "weather", ""}[r.IntN(5)], Status: "resolved"}
	row.Tags = []string{fmt.Sprintf("tag-%d", r.IntN(300)), fmt.Sprintf("z-%d", r.IntN(10))}
	v[screen.Price], v[screen.PriceChange24h], v[screen.Spread], v[screen.Liquidity] = 1_000_000*r.Int64N(2), 0, screen.Null, screen.Null
	if r.IntN(10) < 6 {
		v[screen.Volume] = int64(math.Exp(r.NormFloat64()*3+8) * 1e4)
		v[screen.Trades], v[screen.Traders] = 1+v[screen.Volume]/50_000_000, 1+v[screen.Volume]/100_000_000
	}
	if open {
		row.Class.Status = "open"
		v[screen.Price], v[screen.PriceChange24h], v[screen.Spread] = r.Int64N(1_000_000), r.Int64N(200_000)-100_000, r.Int64N(50_000)
		v[screen.Liquidity] = r.Int64N(1e11)
		v[screen.Volume24h] = v[screen.Volume] / (1 + r.Int64N(50))
		v[screen.Volume7d], v[screen.Volume30d] = v[screen.Volume]/2, v[screen.Volume]
		v[screen.Traders24h], v[screen.WhaleFlow24h] = v[screen.Traders]/2, r.Int64N(1e10)-5e9
	}
	v[screen.CreatedAt] = 1_600_000_000_000_000 + int64(id)*100_000_000
	v[screen.EndDate] = v[screen.CreatedAt] + r.Int64N(90*86_400)*1_000_000
	v[screen.ResolvedAt], v[screen.LastTradeAt] = v[screen.EndDate], v[screen.EndDate]
	return row
}

// dense selects two of three ids, sparse one in a thousand.
func benchSet(every int) screen.Set {
	set := make(screen.Set, (benchMarkets+63)/64)
	for id := 0; id < benchMarkets; id += every {
		set[id/64] |= 1 << (id % 64)
	}
	return set
}

// processor is the processor time that this process has used, which other programs on the machine
// hardly affect.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFloor adds up a column of a million figures: what the machine can do.
func BenchmarkFloor(b *testing.B) {
	list := make([]int64, benchMarkets)
	least, sum := time.Hour, int64(0)
	for b.Loop() {
		at := time.Now()
		for _, v := range list {
			sum += v
		}
		least = min(least, time.Since(at))
	}
	b.ReportMetric(float64(least.Microseconds()), "least-µs")
	if sum != 0 {
		b.Fatal(sum)
	}
}

func BenchmarkTop(b *testing.B) {
	c := million()
	crypto := func(c *screen.Class) bool { return c.Category == "crypto" }
	tagged := []string{"tag-7"}
	half := []screen.Range{{Field: screen.Price, Least: 0, Most: 500_000}, {Field: screen.Volume, Least: 1_000_000, Most: math.MaxInt64},
		{Field: screen.EndDate, Least: 1_620_000_000_000_000, Most: math.MaxInt64}, {Field: screen.Traders, Least: 1, Most: 1 << 40}}
	mid := c.PlaceOf(benchMarkets/2, screen.Order{Field: screen.CreatedAt}, benchCondition(benchMarkets/2))
	zero := screen.Place{Value: 0, Volume: 0, Condition: data.Hash{0x80}}
	for _, q := range []struct {
		name  string
		f     screen.Filter
		o     screen.Order
		after *screen.Place
	}{
		{"default", screen.Filter{}, screen.Order{}, nil},
		{"volume24h-zero-tail", screen.Filter{}, screen.Order{}, &zero},
		{"volume24h-asc", screen.Filter{}, screen.Order{Ascending: true}, nil},
		{"spread-nulls-behind", screen.Filter{}, screen.Order{Field: screen.Spread}, &screen.Place{Value: screen.Null, Volume: 0, Condition: data.Hash{0x40}}},
		{"price-desc", screen.Filter{}, screen.Order{Field: screen.Price}, nil},
		{"created-asc", screen.Filter{}, screen.Order{Field: screen.CreatedAt, Ascending: true}, nil},
		{"created-middle", screen.Filter{}, screen.Order{Field: screen.CreatedAt}, &mid},
		{"crypto", screen.Filter{Class: crypto}, screen.Order{}, nil},
		{"tag-by-created", screen.Filter{Tags: tagged}, screen.Order{Field: screen.CreatedAt}, nil},
		{"tag-by-spread", screen.Filter{Tags: tagged}, screen.Order{Field: screen.Spread}, nil},
		{"four-ranges", screen.Filter{Ranges: half}, screen.Order{Field: screen.PriceChange24h}, nil},
		{"four-ranges-crypto-behind", screen.Filter{Ranges: half, Class: crypto}, screen.Order{Field: screen.PriceChange24h}, &screen.Place{Volume: 30e6}},
		{"nothing-passes", screen.Filter{Ranges: append(slices.Clone(half), screen.Range{Field: screen.Volume24h, Least: 5, Most: 5})}, screen.Order{}, nil},
		{"dense-set", screen.Filter{Within: []screen.Set{benchSet(2)}, Class: crypto}, screen.Order{Field: screen.Traders}, &zero},
		{"sparse-set", screen.Filter{Within: []screen.Set{benchSet(1000)}}, screen.Order{}, nil},
	} {
		b.Run(q.name, func(b *testing.B) {
			var took []time.Duration
			cpu := processor()
			for b.Loop() {
				at := time.Now()
				c.Top(&q.f, q.o, q.after, 200, benchCondition)
				took = append(took, time.Since(at))
			}
			b.ReportMetric(float64((processor()-cpu).Microseconds())/float64(b.N), "cpu-µs")
			slices.Sort(took)
			b.ReportMetric(float64(took[0].Microseconds()), "least-µs")
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
	b.Run("summary", func(b *testing.B) {
		cpu := processor()
		defer func() { b.ReportMetric(float64((processor()-cpu).Microseconds())/float64(b.N), "cpu-µs") }()
		for b.Loop() {
			c.Summarize(&screen.Filter{}, []int64{1_650_000_000_000_000})
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	at := time.Now()
	builder := screen.NewBuilder()
	r := rand.New(rand.NewPCG(3, 4))
	for id := range benchMarkets {
		builder.Set(int32(id), benchRow(r, id))
	}
	c := builder.Seal()
	b.Logf("all %v, %d MB", time.Since(at), c.Bytes()>>20)
	for _, changed := range []int{100, 10_000} {
		at, before := time.Now(), c
		for range changed {
			id := r.IntN(benchMarkets)
			row := benchRow(r, id)
			builder.Set(int32(id), row)
		}
		c = builder.Seal()
		b.Logf("%d anywhere: %v, %d KB", changed, time.Since(at), before.UnsharedBytes(c)>>10)
	}
}
