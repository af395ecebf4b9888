package ingest

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"pmx/data"
	"pmx/engine/guard"
)

// reportProgress reports the progress of DuckDB's reading of a file of size bytes until the
// returned func is called. DuckDB's own progress is not accessible through the driver; the number
// of bytes that the process has read since the start is a good estimate.
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

// expectedRows estimates the number of records of a file of lines by the length of the first ones;
// 0 for Parquet.
func (j *fileImport) expectedRows(size int64) float64 {
	head := j.src.head.Bytes
	lines := bytes.Count(head, []byte("\n"))
	if j.src.head.Format == data.Parquet || lines < 2 {
		return 0
	}
	return float64(size) / (float64(bytes.LastIndexByte(head, '\n')) / float64(lines))
}

// bytesRead returns how many bytes this process has read, as counted by Linux.
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
