package engine

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// LeastMemory is the least that a process can be limited to: below it DuckDB has too little for
// sorting, and Go for what is served.
const LeastMemory int64 = 512_000_000

const (
	// unknownMemory is the default if the system does not say how much there is.
	unknownMemory int64 = 8_000_000_000
	// uncountedMemory and uncountedShare are for what neither DuckDB's limit nor Go's covers: buffers that
	// DuckDB does not count, unused memory that its allocator keeps, SQLite, stacks.
	uncountedMemory int64 = 192_000_000
	uncountedShare  int64 = 10 // a tenth of all
)

// Memory is how much memory a process may take, in bytes, without the system's cache of files, and its parts.
type Memory struct {
	Total  int64 `json:"total"`
	DuckDB int64 `json:"duckdb"`
	Go     int64 `json:"go"`
	Rest   int64 `json:"rest"` // for memory that neither limit counts
}

// ParseMemory divides an amount of memory such as 8GB; "" means three quarters of what this process
// can have.
func ParseMemory(text string) (Memory, error) {
	if text == "" {
		return divideMemory(defaultMemory(machineMemory(os.DirFS("/")))), nil
	}
	n, err := humanize.ParseBytes(text)
	if _, bare := strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil || bare == nil || n > math.MaxInt64 {
		return Memory{}, fmt.Errorf("give a size such as 8GB, %s at least", sizeText(LeastMemory))
	}
	if int64(n) < LeastMemory {
		return Memory{}, fmt.Errorf("that is too little: give %s at least", sizeText(LeastMemory))
	}
	return divideMemory(int64(n)), nil
}

// divideMemory divides memory between DuckDB and Go in equal parts, with which a process begins. A
// Division then follows the live heap.
func divideMemory(total int64) Memory {
	rest := uncountedMemory + total/uncountedShare
	half := (total - rest) / 2
	return Memory{Total: total, DuckDB: half, Go: half, Rest: total - 2*half}
}

// DuckDBLimit is DuckDB's part as an Options.MemoryLimit.
func (m Memory) DuckDBLimit() string { return sizeText(m.DuckDB) }

// LimitGo sets Go's memory limit to its part. It changes nothing if GOMEMLIMIT is set in the environment. It returns the limit in
// force.
func (m Memory) LimitGo() int64 {
	if !goLimitTold() {
		debug.SetMemoryLimit(m.Go)
	}
	return debug.SetMemoryLimit(-1)
}

// goLimitTold reports whether the operator has set Go's limit.
func goLimitTold() bool {
	_, told := os.LookupEnv("GOMEMLIMIT")
	return told
}

// sizeText is a size in whole megabytes, as flags and DuckDB take it.
func sizeText(bytes int64) string { return strconv.FormatInt(bytes/1_000_000, 10) + "MB" }

// defaultMemory is three quarters of what there is.
func defaultMemory(there int64) int64 {
	if there <= 0 {
		return unknownMemory
	}
	return max(LeastMemory, there/4*3)
}

// machineMemory is what this process can have: the memory of the machine, or that of its control group if that is less. 0: not
// known.
func machineMemory(root fs.FS) int64 {
	least := int64(0)
	note := func(n int64) {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	note(installedMemory(root))
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		// "0::/path" of the second version, "4:memory:/path" of the first.
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		top, name := "sys/fs/cgroup", "memory.max"
		switch {
		case parts[0] == "0" && parts[1] == "":
		case strings.Contains(","+parts[1]+",", ",memory,"):
			top, name = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		// The limits of all groups above apply too. In a container the path is that of the machine,
		// and only the top is visible.
		for dir := path.Join(top, path.Clean("/"+parts[2])); ; dir = path.Dir(dir) {
			note(numberIn(root, path.Join(dir, name)))
			if dir == top {
				break
			}
		}
	}
	return least
}

// numberIn is the number in a file; 0 if there is none, as in "max".
func numberIn(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// installedMemory is that of the machine, 0: not known.
func installedMemory(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0
	}
	return kilobytesOf(string(text), "MemTotal:")
}

// ResidentMemory is the memory of the process now in bytes, without cached pages of files; 0: not known.
func ResidentMemory() int64 {
	text, err := fs.ReadFile(os.DirFS("/"), "proc/self/status")
	if err != nil {
		return 0
	}
	return kilobytesOf(string(text), "RssAnon:") + kilobytesOf(string(text), "RssShmem:")
}

// kilobytesOf finds a line such as "RssAnon:    1234 kB"; 0: there is none.
func kilobytesOf(text, name string) int64 {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == name {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			if err == nil && n > 0 && n < math.MaxInt64/1024 {
				return n * 1024
			}
		}
	}
	return 0
}
