package replay

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"pmx/data/sample"
)

// BenchmarkLogs serves ranges of 20,000 logs over loopback. fills/s includes both sides; the client
// discards what it reads.
func BenchmarkLogs(b *testing.B) {
	s, url := startServer(b, Options{Venue: venue(b, sample.Config{Fills: 500_000, Chain: true}), MaxRange: 1 << 40, MaxLogs: 1 << 30})
	v := s.Venue()
	const fills = 20_000
	var calls []string
	for i, n := 0, 0; i < len(v.Matches); {
		from := v.Matches[i].At
		for n = 0; n < fills && i < len(v.Matches); i++ {
			n += v.Matches[i].Fills()
		}
		calls = append(calls, question(sample.BlockOf(from), sample.BlockOf(v.Matches[i-1].At)))
	}
	for _, encoding := range []string{"identity", "gzip", "zstd"} {
		b.Run(encoding, func(b *testing.B) {
			bytes := int64(0)
			for i := 0; b.Loop(); i++ {
				req, err := http.NewRequest(http.MethodPost, url+"/rpc", strings.NewReader(calls[i%len(calls)]))
				if err != nil {
					b.Fatal(err)
				}
				req.Header.Set("Accept-Encoding", encoding)
				res, err := http.DefaultTransport.RoundTrip(req)
				if err != nil {
					b.Fatal(err)
				}
				n, err := io.Copy(io.Discard, res.Body)
				if err != nil || res.StatusCode != http.StatusOK {
					b.Fatal(err, res.Status)
				}
				bytes += n
				res.Body.Close()
			}
			b.ReportMetric(float64(fills*b.N)/b.Elapsed().Seconds(), "fills/s")
			b.ReportMetric(float64(bytes)/float64(b.N)/fills, "B/fill")
		})
	}
}
