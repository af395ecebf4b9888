package engine

import (
	"math"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"
)

func TestPartsOfMemoryAddUp(t *testing.T) {
	for _, text := range []string{"512MB", "513 MB", "2GB", "8GB", "1TiB"} {
		m, err := ParseMemory(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if m.DuckDB+m.Go+m.Rest != m.Total || m.DuckDB != m.Go || m.Rest < uncountedMemory {
			t.Errorf("%s: %+v", text, m)
		}
		if m.DuckDB < 128<<20*95/100 {
			t.Errorf("%s leaves DuckDB %d", text, m.DuckDB)
		}
	}
	for text, says := range map[string]string{"lots": "give a size", "8": "give a size", "8000000000": "give a size", "-1GB": "give a size", "511MB": "512MB at least", "20MB": "512MB at least"} {
		if m, err := ParseMemory(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v, %v", text, m, err)
		}
	}
	if m, err := ParseMemory(""); err != nil || m.Total < LeastMemory {
		t.Errorf("by default %+v, %v", m, err)
	}
}

func TestAvailableMemory(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	machine := file("MemFree:   100 kB\nMemTotal:       16000000 kB\n")
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  int64
	}{
		"nothing known": {fstest.MapFS{}, 0},
		"the machine's": {fstest.MapFS{"proc/meminfo": machine}, 16_000_000 * 1024},
		"no limit": {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/memory.max": file("max\n")},
			16_000_000 * 1024},
		"of a group": {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/memory.max": file("4000000000\n")},
			4_000_000_000},
		"of the group above": {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/memory.max": file("4000000000\n"),
			"sys/fs/cgroup/a/memory.max": file("3000000000\n")}, 3_000_000_000},
		"of a container": {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("0::/../../x\n"), "sys/fs/cgroup/memory.max": file("2000000000\n")},
			2_000_000_000},
		"of the first version": {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("5:cpu,memory:/j\n3:pids:/k\n"),
			"sys/fs/cgroup/memory/j/memory.limit_in_bytes": file("1000000000\n"), "sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n")},
			1_000_000_000},
	} {
		if got := machineMemory(c.files); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	for there, want := range map[int64]int64{0: unknownMemory, 24_000_000_000: 18_000_000_000, 400_000_000: LeastMemory} {
		if got := defaultMemory(there); got != want {
			t.Errorf("of %d bytes, the default is %d, want %d", there, got, want)
		}
	}
}

func TestTheLimitOfGoIsTheOperatorsWhereItIsSet(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	debug.SetMemoryLimit(math.MaxInt64)
	m := divideMemory(8_000_000_000)
	t.Setenv("GOMEMLIMIT", "123MiB")
	if got := m.LimitGo(); got != math.MaxInt64 {
		t.Errorf("%d with GOMEMLIMIT, which only the start of a process reads", got)
	}
}
