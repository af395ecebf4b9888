//go:build linux

package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// clockVar names the file with the offset of a process's wall clock.
const clockVar = "SOAK_WALL_CLOCK"

// nowBegins is the start of time.Now in Go's library, and nowShifted its replacement.
const (
	nowBegins  = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	nowShifted = nowBegins + "\tsec += wallShift()\n"
)

// shiftSource is added to package time. Only the wall clock is shifted: the monotonic clock and
// timers continue, as when somebody sets the clock of a machine.
const shiftSource = `package time

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

var wallShiftAt *int64

func init() {
	path, found := syscall.Getenv("` + clockVar + `")
	if !found {
		return
	}
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		panic(path + ": " + err.Error())
	}
	page, err := syscall.Mmap(fd, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(path + ": " + err.Error())
	}
	wallShiftAt = (*int64)(unsafe.Pointer(&page[0]))
}

func wallShift() int64 {
	if wallShiftAt == nil {
		return 0
	}
	return atomic.LoadInt64(wallShiftAt)
}
`

// wallClock is the wall clock of the processes that were started with it: the machine's clock plus
// an offset in seconds.
type wallClock struct {
	path  string
	ahead int64
}

// withClock returns a harness whose program, built from the sources of this module, uses a wall
// clock that can be set.
func (h *harness) withClock(ctx context.Context) (*harness, *wallClock, error) {
	dir := h.path("clock")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	overlay, err := overlayTime(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	h.say("building pmx with a clock that can be set (the first time, some minutes)")
	shifted := *h
	shifted.pmx = filepath.Join(dir, "pmx")
	if out, err := command(ctx, "go", "build", "-overlay", overlay, "-ldflags", "-X main.version="+h.version, "-o", shifted.pmx, "pmx/cmd/pmx").CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("build pmx with a clock that can be set: %w: %s", err, out)
	}
	clock := &wallClock{path: filepath.Join(dir, "ahead")}
	shifted.env = []string{clockVar + "=" + clock.path}
	return &shifted, clock, clock.set(0)
}

// overlayTime writes the overlay with which go build replaces Go's time.Now.
func overlayTime(ctx context.Context, dir string) (string, error) {
	root, err := command(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	src := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	text, err := os.ReadFile(filepath.Join(src, "time.go"))
	if err != nil {
		return "", err
	}
	changed, err := shiftNow(string(text))
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, text := range map[string]string{"time.go": changed, "wall_shift.go": shiftSource} {
		replace[filepath.Join(src, name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}

// shiftNow replaces time.Now in the text of time.go.
func shiftNow(text string) (string, error) {
	if strings.Count(text, nowBegins) != 1 {
		return "", errors.New("time.Now of this version of Go is not the known one: see nowBegins")
	}
	return strings.Replace(text, nowBegins, nowShifted, 1), nil
}

// set sets the clock for all processes that use it at once.
func (c *wallClock) set(ahead int64) error {
	f, err := os.OpenFile(c.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(ahead)), 0)
	c.ahead = ahead
	return errors.Join(err, f.Close())
}

// now returns the time of the clock.
func (c *wallClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead) * time.Second) }

// jump sets the clock to d ahead of the machine's (or behind it), ten seconds before the end of a
// minute, so that work of every minute is due soon.
func (c *wallClock) jump(d time.Duration) error {
	ahead := int64(d / time.Second)
	return c.set(ahead + 50 - (time.Now().Unix()+ahead)%60)
}
