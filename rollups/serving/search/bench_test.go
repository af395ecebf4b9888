package search_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pmx/rollups/serving/search"
)

// million is an index of a million invented titles, made once.
var million = sync.OnceValue(func() *search.Index {
	b := search.NewBuilder()
	fill(b, 0, 1_000_000)
	return b.Seal()
})

// fill sets markets from to to with titles of 5 to 14 words, of which a few are in most titles and
// many in only some.
func fill(b *search.Builder, from, to int) {
	r := rand.New(rand.NewPCG(1, uint64(from)))
	zipf := rand.NewZipf(r, 1.15, 4, 150_000)
	common := strings.Fields("will the be in on by of to price above win 2026 yes or at")
	for id := from; id < to; id++ {
		var title []string
		for range 5 + r.IntN(10) {
			if r.IntN(3) > 0 {
				title = append(title, common[r.IntN(len(common))])
			} else {
				title = append(title, madeUp(zipf.Uint64()))
			}
		}
		slug := strings.Join(title, "-")
		b.Set(int32(id), strings.Join(title, " "), slug, fmt.Sprintf("event %s %d", madeUp(zipf.Uint64()), id%50_000))
	}
}

// madeUp is a word of two to six syllables, always the same for an n.
func madeUp(n uint64) string {
	x := n*0x9e3779b97f4a7c15 + 12345
	var b strings.Builder
	for range 2 + x%3 {
		x ^= x >> 29
		x *= 0xbf58476d1ce4e5b9
		b.WriteByte("bcdfghklmnprstvw"[x>>60])
		b.WriteByte("aeiou"[x>>32%5])
	}
	return b.String()
}

func BenchmarkFind(b *testing.B) {
	x := million()
	for _, query := range []string{
		"w", "b", "wi", "will the be in on by of to", "will", "price above", "ba bo be", "bitcon", "a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7",
		"bada bede bidi bodo budu kaka keke kiki koko kuku lala lele lili lolo lulu mama meme mimi momo mumu", "zzzz",
	} {
		b.Run(strings.ReplaceAll(query, " ", "_")[:min(len(query), 30)], func(b *testing.B) {
			words := search.Words(query)
			var took []time.Duration
			for b.Loop() {
				at := time.Now()
				m := x.Find(words)
				m.Count()
				m.Release()
				took = append(took, time.Since(at))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	at := time.Now()
	builder := search.NewBuilder()
	fill(builder, 0, 1_000_000)
	set := time.Since(at)
	at = time.Now()
	x := builder.Seal()
	b.Logf("set %v, sealed %v, %d MB", set, time.Since(at), x.Bytes()>>20)
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.Logf("heap %d MB", (after.HeapAlloc-before.HeapAlloc)>>20)
	var took []time.Duration
	for i := range 300 {
		fill(builder, 1_000_000+i*1000, 1_001_000+i*1000)
		at = time.Now()
		x = builder.Seal()
		took = append(took, time.Since(at))
	}
	slices.Sort(took)
	b.Logf("a thousand more: p50 %v, p90 %v, most %v", took[150], took[270], took[299])
	runtime.KeepAlive(x)
}
