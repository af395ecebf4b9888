//go:build linux

package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pmx/cmd/bench/load"
	"pmx/engine/guard"
)

const requestsAnswered = "requests answered"

// reading is the state of a server between two windows of load.
type reading struct {
	resident, goroutines, descriptors float64
	p99                               time.Duration
}

// steady loads one server for a while with requests, imports, keys, exports, backups, slow clients
// and corrupt files. Nothing may fail, and memory, descriptors and goroutines may not grow.
func (c *runCmd) steady(ctx context.Context, h *harness, r *rand.Rand) error {
	v, err := c.venue(ctx, h, r, "")
	if err != nil {
		return err
	}
	for range c.Rate / 1200 { // a key of the plan alpha has 100,000 requests a minute
		if err := v.issue(ctx); err != nil {
			return err
		}
	}
	s, err := h.serve(ctx, v.dir, 0, "--refresh-cron", "@every 10s")
	if err != nil {
		return err
	}
	until := time.Now().Add(c.Steady)
	busy, stop := context.WithCancel(ctx)
	defer stop()
	wait := v.beside(busy, s)
	var samples []reading
	for ctx.Err() == nil && time.Now().Before(until) {
		one, err := c.window(ctx, v, s, min(load.MaxDuration, max(time.Second, time.Until(until))))
		if err != nil {
			return err
		}
		samples = append(samples, one)
	}
	stop()
	wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.flat(h, samples)
	if err := v.held(ctx, s); err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		h.fail("%v", err)
	}
	return v.wholeInTheEnd(ctx)
}

// window sends requests for a while, and then reads the state of the server.
func (c *runCmd) window(ctx context.Context, v *venue, s *server, d time.Duration) (reading, error) {
	const conns = 8
	res, err := load.Run(ctx, load.Config{Addr: s.addr, Paths: readPaths(), Keys: v.secrets(), Conns: conns, Duration: d,
		Pause: time.Second * conns / time.Duration(c.Rate)})
	if err != nil {
		return reading{}, err
	}
	v.count(requestsAnswered, res.Requests)
	if res.Errors > 0 {
		v.fail("%d of %d requests failed, the last one with %s", res.Errors, res.Requests+res.Errors, res.LastError)
	}
	if err := s.alive(); err != nil {
		return reading{}, err
	}
	m, err := s.metrics(ctx)
	if err != nil {
		return reading{}, err
	}
	one := reading{m["process_resident_memory_bytes"], m["go_goroutines"], m["process_open_fds"], res.P99}
	v.say("%d requests/s, p50 %s, p99 %s; %.0f MB, %.0f goroutines, %.0f descriptors", int64(res.PerSecond), res.P50, res.P99,
		one.resident/1e6, one.goroutines, one.descriptors)
	return one, nil
}

// readPaths are the paths that are requested, in turns.
func readPaths() []string {
	var all []string
	for _, path := range []string{"/leaderboard/traders?period=7d", "/leaderboard/markets?period=30d&limit=20", "/stats", "/stats/daily?days=7",
		"/whales?period=30d", "/screener?limit=5", "/pmx-index", "/weather/cities", "/status/public", "/leaderboard/traders?period=30d&limit=3"} {
		all = append(all, "/api/v3"+path)
	}
	return all
}

// flat compares the second quarter of the samples with the last.
func (c *runCmd) flat(h *harness, samples []reading) {
	quarter := len(samples) / 4
	if quarter < 2 {
		return
	}
	early, late := samples[quarter:2*quarter], samples[len(samples)-quarter:]
	middle := func(of []reading, what func(reading) float64) float64 {
		all := make([]float64, len(of))
		for i, one := range of {
			all[i] = what(one)
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	for _, m := range []struct {
		name         string
		value        func(reading) float64
		factor, more float64
		checked      bool
	}{
		{"bytes of memory", func(s reading) float64 { return s.resident }, 1.25, 64e6, true},
		{"goroutines", func(s reading) float64 { return s.goroutines }, 1, 20, true},
		{"descriptors", func(s reading) float64 { return s.descriptors }, 1, 20, true},
		{"nanoseconds of p99", func(s reading) float64 { return float64(s.p99) }, 2, 5e6, c.Strict},
	} {
		a, b := middle(early, m.value), middle(late, m.value)
		h.say("%s: %.0f in the second quarter, %.0f in the last", m.name, a, b)
		if m.checked && b > a*m.factor+m.more {
			h.fail("%s: %.0f in the second quarter of a steady round, %.0f in the last", m.name, a, b)
		}
	}
	h.count("steady rounds whose memory, goroutines and descriptors were compared", 1)
}

// beside does everything other than requests during the load, on a running server; none of it may
// fail. wait waits for its end.
func (v *venue) beside(ctx context.Context, s *server) (wait func()) {
	var all sync.WaitGroup
	every := func(pause time.Duration, f func(context.Context) error) { v.repeat(ctx, &all, pause, f) }
	every(3*time.Second, v.importNext)
	every(20*time.Second, v.issue)
	every(17*time.Second, func(ctx context.Context) error {
		_, err := v.run(ctx, v.dir, "backup", v.backups, "--keep", "3")
		v.count("backups made", 1)
		return err
	})
	every(8*time.Second, func(ctx context.Context) error { _, err := v.exportJob(ctx, s); return err })
	every(11*time.Second, func(ctx context.Context) error {
		path := filepath.Join(filepath.Dir(v.events), "steady.csv")
		_, err := v.run(ctx, v.dir, "export", "fills", "--out", path)
		v.count("exports made by pmx export", 1)
		return err
	})
	every(5*time.Second, v.importCorrupt)
	every(time.Second, func(context.Context) error { return v.slowClients(ctx, s, 12) })
	return all.Wait
}

// repeat calls f until ctx ends, and counts failures.
func (v *venue) repeat(ctx context.Context, all *sync.WaitGroup, pause time.Duration, f func(context.Context) error) {
	all.Add(1)
	go func() {
		defer all.Done()
		for ctx.Err() == nil {
			if err := f(context.WithoutCancel(ctx)); err != nil {
				v.fail("during the load: %v", err)
			}
			_ = guard.Sleep(ctx, pause)
		}
	}()
}

// exportJob requests a file, waits for it and reads it. It returns the path of the download.
func (v *venue) exportJob(ctx context.Context, s *server) (string, error) {
	key := v.secrets()[0]
	code, text, err := s.send(ctx, "POST", "/research/export-jobs", key, `{"dataset":"wallet_pnl","format":"parquet","period":"all"}`)
	for n := 0; err == nil && n < 600 && strings.Contains(text, `"status":`) && !strings.Contains(text, `"status":"done"`); n++ {
		_, id, found := strings.Cut(text, `"job_id":"`)
		if !found {
			break
		}
		id, _, _ = strings.Cut(id, `"`)
		_ = guard.Sleep(ctx, 100*time.Millisecond)
		code, text, err = s.get(ctx, "/research/export-jobs/"+id, key)
	}
	if err != nil {
		return "", err
	}
	_, link, found := strings.Cut(text, `"download_url":"/api/v3`)
	link, _, _ = strings.Cut(link, `"`)
	if !found {
		return "", fmt.Errorf("the export job did not finish: status %d: %s", code, text)
	}
	code, file, err := s.get(ctx, link, key)
	if err == nil && (code != 200 || !strings.HasPrefix(file, "PAR1") || !strings.HasSuffix(file, "PAR1")) {
		err = fmt.Errorf("download of an export: status %d, %d bytes", code, len(file))
	}
	v.count("export jobs done and downloaded", 1)
	return link, err
}

// importCorrupt imports unreadable files. Each must be refused with a reason.
func (v *venue) importCorrupt(ctx context.Context) error {
	v.mu.Lock()
	n := v.counted("corrupt files refused")
	text, err := os.ReadFile(v.slices[0])
	v.mu.Unlock()
	if err != nil {
		return err
	}
	path := filepath.Join(filepath.Dir(v.events), "corrupt.csv")
	switch n % 4 {
	case 0: // a compressed file that is cut short
		var b strings.Builder
		w := gzip.NewWriter(&b)
		if _, err := w.Write(text); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		path += ".gz"
		text = []byte(b.String()[:b.Len()/2])
	case 1: // bytes of no format
		random := rand.New(rand.NewPCG(v.seed, uint64(n)))
		for i := range text {
			text[i] = byte(random.Uint32())
		}
	case 2: // no column that is needed
		text = []byte(strings.Replace(string(text), "maker", "nobody", 1))
	case 3: // a file of Parquet with no end
		path = strings.TrimSuffix(path, "csv") + "parquet"
		text = append([]byte("PAR1"), text...)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	out, err := v.run(ctx, v.dir, "import", "--json", path)
	v.count("corrupt files refused", 1)
	if status(err) != 1 {
		return fmt.Errorf("a corrupt file (%d) is not refused: %w: %s", n%4, err, out)
	}
	return nil
}
