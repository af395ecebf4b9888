package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// resetPeak makes Linux forget the process's highest memory use so far.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) }

// peakMemory is the highest resident size since resetPeak, in bytes; 0 where
// the system does not tell.
func peakMemory() int64 { return statusBytes("VmHWM:") }

// anonymousMemory is the resident size without pages of files, in bytes; 0 where the system does
// not tell.
func anonymousMemory() int64 { return statusBytes("RssAnon:") }

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
