package ingest

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"pmx/data"
	"pmx/engine/guard"
)

// reportProgress reports how far DuckDB is with reading a file of size bytes until the
// returned func is called. DuckDB's own progress cannot be reached through the
// driver; what the process has read since the start comes close to it.
func (j *fileImport) reportProgress(size int64) func() {
	start, ok := bytesRead()
	if !ok || j.opts.Progress == nil {
		return func() {}
	}
	rows := j.expectedRows(size)
	stop := make(chan struct{})
	done := guard.Start(func() error {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return nil
			case <-tick.C:
				now, _ := bytesRead()
				share := min(float64(now-start)/float64(max(size, 1)), 1)
				j.progress("reading", share, int64(share*rows))
			}
		}
	})
	return func() {
		close(stop)
		_ = guard.Repanic(<-done)
	}
}

// expectedRows is about how many records a file of lines has, by the length of
// its first ones; 0 for Parquet.
func (j *fileImport) expectedRows(size int64) float64 {
	head := j.src.head.Bytes
	lines := bytes.Count(head, []byte("\n"))
	if j.src.head.Format == data.Parquet || lines < 2 {
		return 0
	}
	return float64(size) / (float64(bytes.LastIndexByte(head, '\n')) / float64(lines))
}

// bytesRead is what this process has read so far, as Linux counts it.
func bytesRead() (int64, bool) {
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, false
	}
	_, rest, found := bytes.Cut(b, []byte("rchar: "))
	if !found {
		return 0, false
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, err := strconv.ParseInt(string(line), 10, 64)
	return n, err == nil
}
