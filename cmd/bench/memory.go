package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// resetPeak resets the process's peak memory, which Linux records.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) }

// peakMemory returns the peak of the resident size since resetPeak in bytes; 0 if unknown.
func peakMemory() int64 { return statusBytes("VmHWM:") }

// anonymousMemory returns the resident size without pages of files in bytes; 0 if unknown.
func anonymousMemory() int64 { return statusBytes("RssAnon:") }

// sampledMemory is the anonymous memory over an interval.
type sampledMemory struct{ median, most int64 }

// sampleMemory samples the anonymous memory twenty times a second until end is called.
func sampleMemory() (end func() sampledMemory) {
	over, ended := make(chan struct{}), make(chan []int64)
	go func() {
		var seen []int64
		for tick := time.NewTicker(time.Second / 20); ; {
			seen = append(seen, anonymousMemory())
			select {
			case <-tick.C:
			case <-over:
				tick.Stop()
				ended <- seen
				return
			}
		}
	}()
	return func() sampledMemory {
		close(over)
		seen := <-ended
		slices.Sort(seen)
		return sampledMemory{median: seen[len(seen)/2], most: seen[len(seen)-1]}
	}
}

func statusBytes(field string) int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, found := strings.CutPrefix(s.Text(), field); found {
			var kb int64
			if _, err := fmt.Sscan(rest, &kb); err == nil {
				return kb << 10
			}
		}
	}
	return 0
}
