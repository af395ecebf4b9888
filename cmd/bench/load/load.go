// Package load measures how fast a server on this machine responds: a small, bounded load generator
// over loopback, for benchmarks.
package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"net"
	"net/netip"
	"time"

	"github.com/valyala/fasthttp"

	"pmx/engine/guard"
)

// MaxDuration is the maximum duration of a run.
const MaxDuration = 10 * time.Second

// ErrNotLoopback is returned for a target that is not on this machine.
var ErrNotLoopback = errors.New("load is for loopback addresses only")

// Config says what to request and how many requests to send.
type Config struct {
	Addr     string            // HOST:PORT, a loopback address
	Paths    []string          // with their query; taken in turn
	Keys     []string          // API keys, taken in turn; empty: none
	Header   map[string]string // sent with every request
	Conns    int               // connections, each with one request at a time
	Duration time.Duration     // at most MaxDuration
	Pause    time.Duration     // pause of a connection before each request, to measure latency below full load
}

// Result is the result of a run.
type Result struct {
	Requests  int64         // answered with 200 or 304
	Errors    int64         // any other status, or no response
	Bytes     int64         // size of bodies as received
	Elapsed   time.Duration // wall clock
	PerSecond float64       // requests per second
	P50, P99  time.Duration // latency; within 3 %
	LastError string        // error of the last failed request
}

// Run sends requests until the duration is over or ctx ends.
func Run(ctx context.Context, cfg Config) (Result, error) {
	addr, err := netip.ParseAddrPort(cfg.Addr)
	switch {
	case err != nil:
		return Result{}, fmt.Errorf("target %q: %w", cfg.Addr, err)
	case !addr.Addr().IsLoopback():
		return Result{}, fmt.Errorf("target %q: %w", cfg.Addr, ErrNotLoopback)
	case cfg.Duration <= 0 || cfg.Duration > MaxDuration || cfg.Conns < 1 || len(cfg.Paths) == 0:
		return Result{}, fmt.Errorf("a run needs paths, at least one connection and a duration up to %s", MaxDuration)
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.Duration)
	defer cancel()
	workers := make([]worker, cfg.Conns)
	began := time.Now()
	all := make([]<-chan error, len(workers))
	for i := range workers {
		all[i] = guard.Start(func() error { workers[i].run(ctx, &cfg, i); return nil })
	}
	for _, done := range all {
		_ = guard.Repanic(<-done)
	}
	return sum(workers, time.Since(began)), nil
}

// worker is one connection's share.
type worker struct {
	result  Result
	latency histogram
	conn    net.Conn // nil: not connected
	in      *bufio.Reader
	out     *bufio.Writer
}

func (w *worker) run(ctx context.Context, cfg *Config, n int) {
	req := fasthttp.AcquireRequest()
	defer fasthttp.ReleaseRequest(req)
	for name, value := range cfg.Header {
		req.Header.Set(name, value)
	}
	req.Header.SetHost(cfg.Addr)
	for ; ctx.Err() == nil; n += cfg.Conns {
		req.Header.SetRequestURI(cfg.Paths[n%len(cfg.Paths)])
		if len(cfg.Keys) > 0 {
			req.Header.Set("X-Api-Key", cfg.Keys[n%len(cfg.Keys)])
		}
		if cfg.Pause > 0 && guard.Sleep(ctx, cfg.Pause) != nil {
			break
		}
		began := time.Now()
		if err := w.ask(cfg.Addr, req); err != nil {
			w.result.Errors++
			w.result.LastError = err.Error()
			continue
		}
		w.latency.add(time.Since(began))
		w.result.Requests++
	}
	w.hangUp()
}

// ask sends req and reads the response, over the existing connection or a new one.
func (w *worker) ask(addr string, req *fasthttp.Request) error {
	if w.conn == nil {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			err = conn.SetDeadline(time.Now().Add(2 * MaxDuration))
		}
		if err != nil {
			return err
		}
		w.conn, w.in, w.out = conn, bufio.NewReaderSize(conn, 64<<10), bufio.NewWriter(conn)
	}
	err := errors.Join(req.Write(w.out), w.out.Flush())
	var a answer
	if err == nil {
		a, err = readAnswer(w.in)
	}
	if err != nil || a.last {
		w.hangUp()
	}
	if err == nil && a.status != fasthttp.StatusOK && a.status != fasthttp.StatusNotModified {
		return fmt.Errorf("status %d: %s", a.status, a.start)
	}
	w.result.Bytes += int64(a.size)
	return err
}

func (w *worker) hangUp() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}

func sum(workers []worker, elapsed time.Duration) Result {
	total, latency := Result{Elapsed: elapsed}, &histogram{}
	for i := range workers {
		r := &workers[i].result
		total.Requests += r.Requests
		total.Errors += r.Errors
		total.Bytes += r.Bytes
		if r.LastError != "" {
			total.LastError = r.LastError
		}
		latency.merge(&workers[i].latency)
	}
	total.PerSecond = float64(total.Requests) / elapsed.Seconds()
	total.P50, total.P99 = latency.quantile(0.50), latency.quantile(0.99)
	return total
}

// histogram counts durations in buckets that are 1/32 of their size wide.
type histogram struct {
	counts [64 * 32]int64
	total  int64
}

const fine = 5 // bits of a duration that a bucket keeps below the leading one

func bucket(ns uint64) int {
	if ns < 1<<fine {
		return int(ns)
	}
	shift := bits.Len64(ns) - fine - 1
	return (shift+1)<<fine + int(ns>>shift&(1<<fine-1))
}

func (h *histogram) add(d time.Duration) {
	h.counts[bucket(uint64(max(0, d)))]++
	h.total++
}

func (h *histogram) merge(other *histogram) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.total += other.total
}

// quantile returns the lower bound of the bucket with the quantile q of all durations; 0 if there
// are none.
func (h *histogram) quantile(q float64) time.Duration {
	rank := int64(q * float64(h.total))
	for i, n := range h.counts {
		if rank -= n; n > 0 && rank < 0 {
			if i < 1<<fine {
				return time.Duration(i)
			}
			return time.Duration(uint64(1<<fine|i&(1<<fine-1)) << (i>>fine - 1))
		}
	}
	return 0
}
