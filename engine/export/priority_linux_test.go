package export_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine/export"
)

// threadTimes returns the processor time of every thread of this process by id, in ticks, and its
// niceness: fields 14, 15 and 19 of /proc/PID/task/TID/stat.
func threadTimes(t testing.TB) (ticks map[string]int64, nice map[string]int) {
	t.Helper()
	ticks, nice = map[string]int64{}, map[string]int{}
	files, err := filepath.Glob("/proc/self/task/*/stat")
	if err != nil || len(files) == 0 {
		t.Skipf("/proc shows no threads: %v", err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		f := strings.Fields(rest)
		if len(f) < 17 {
			t.Fatalf("%s: text = %q", path, text)
		}
		user, _ := strconv.ParseInt(f[11], 10, 64)
		system, _ := strconv.ParseInt(f[12], 10, 64)
		n, _ := strconv.Atoi(f[16])
		ticks[path], nice[path] = user+system, n
	}
	return ticks, nice
}

// Exports of facts and of research datasets run only on threads with a lower priority than
// requests. With one thread, DuckDB works only on the caller's.
func TestExportsYieldToRequests(t *testing.T) {
	// Reading the times of threads takes longer on a busy machine and is not part of an export.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	looking := fmt.Sprintf("/proc/self/task/%d/stat", syscall.Gettid())
	k := open(t, 1)
	crowd(t, k, "1000")
	change(t, k, "INSERT INTO tokens (token, token_id) SELECT i::INTEGER, (i + 1)::VARCHAR FROM range(100) AS r(i)",
		`INSERT INTO fills BY NAME SELECT 1770000000 + i AS seconds, 0 AS micros, (i % 1000)::INTEGER AS wallet, (i % 100)::INTEGER AS token,
  0::TINYINT AS side, 1::TINYINT AS role, i AS shares, i // 2 AS usd, 0 AS fee, unhex(sha256(i::VARCHAR)) AS tx, i::INTEGER AS log_index,
  0 AS repeat, 0 AS batch FROM range(`+strconv.Itoa(testfiles.Cases(300_000, 600_000))+`) AS r(i)`)
	for name, work := range map[string]func() error{
		"a file of facts": func() error {
			_, _, err := k.Exporter().WriteFacts(t.Context(), k.DB().Dir().Tmp(), "fills", data.CSV, nil)
			return err
		},
		"all facts": func() error {
			_, err := k.Exporter().WritePartitions(t.Context(), k.DB().Dir().Tmp(), export.PartitionsKnown{}, func(export.Partition, string, float64) error { return nil })
			return err
		},
	} {
		before, _ := threadTimes(t)
		done := make(chan error, 1)
		go func() { done <- work() }()
		spent, tick := map[bool]int64{}, time.NewTicker(20*time.Millisecond)
		last := map[string]int64{}
		var err error
		for running := true; running; {
			select {
			case err = <-done:
				running = false
			case <-tick.C:
			}
			ticks, nice := threadTimes(t)
			for thread, n := range ticks {
				if thread == looking {
					continue
				}
				if was := max(before[thread], last[thread]); n > was {
					spent[nice[thread] > 0] += n - was
				}
				last[thread] = n
			}
		}
		tick.Stop()
		if err != nil {
			t.Fatal(err)
		}
		if spent[true] <= 2*spent[false] {
			t.Errorf("%s: %d ticks on threads of lower priority, %d on others", name, spent[true], spent[false])
		}
	}
}
