//go:build linux

// Command soak tests the actual pmx program for hours under requests, imports, exports and backups,
// with faults. It starts what it needs on loopback addresses, ends only what it started, removes
// what it wrote, and prints what was tested, how often, and with which results.
//
//	go run ./cmd/bench/soak run --for 10m --seed 7
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

type cli struct {
	Pmx  string `help:"The program to test." default:"bin/pmx" type:"path"`
	Dir  string `help:"Folder to work in; a new one if empty. Its path must be short, because of the sockets in it." type:"path"`
	Seed uint64 `help:"Seed of the random choices; 0 takes it from the clock." default:"0"`

	Run       runCmd   `cmd:"" default:"withargs" help:"Rounds of load and faults for a given time."`
	Smoke     smokeCmd `cmd:"" help:"A short round of every kind."`
	Flips     flipsCmd `cmd:"" help:"Flip bits in every kind of file, and check whether they are detected."`
	Mutate    mutate   `cmd:"" help:"Import files that were damaged in many ways, and check that every row is accounted for."`
	PowerLoss powerCmd `cmd:"" help:"Shut down file systems under a server without flushing their journals, as in a power failure."`
}

func main() {
	var c cli
	parsed := kong.Parse(&c, kong.Name("soak"), kong.Description("Test the pmx program under load and faults."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	parsed.BindTo(ctx, (*context.Context)(nil))
	h, err := c.harness()
	if err == nil {
		err = h.finish(parsed.Run(h))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// harness is shared by all parts of a run.
type harness struct {
	pmx     string
	env     []string // of its processes, in addition to that of this one
	dir     string
	own     bool // the folder was created here, and is removed
	seed    uint64
	version string
	began   time.Time
	*tally
}

func (c *cli) harness() (*harness, error) {
	h := &harness{pmx: c.Pmx, dir: c.Dir, seed: c.Seed, began: time.Now(), tally: newTally()}
	if h.seed == 0 {
		h.seed = uint64(time.Now().UnixNano())
	}
	out, err := exec.Command(h.pmx, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: build it with make build", h.pmx, err)
	}
	_, _ = fmt.Sscanf(string(out), "pmx %s", &h.version)
	if h.dir == "" {
		h.own = true
		h.dir, err = os.MkdirTemp("", "soak-")
		return h, err
	}
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return nil, err
	}
	h.dir, err = os.MkdirTemp(h.dir, "s-")
	h.own = true
	return h, err
}

// finish prints the table and removes the folder; if something failed, the folder is kept.
func (h *harness) finish(err error) error {
	fmt.Printf("\npmx %s, %s, %s/%s, %d cores, seed %d, %s\n\n", h.version, h.began.UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), h.seed, time.Since(h.began).Round(time.Second))
	h.print(os.Stdout)
	if err == nil && h.failed() > 0 {
		err = fmt.Errorf("%d checks failed", h.failed())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kept for inspection:", h.dir)
		return err
	}
	return errors.Join(err, os.RemoveAll(h.dir))
}

func (h *harness) path(parts ...string) string {
	return filepath.Join(append([]string{h.dir}, parts...)...)
}

// say reports progress on standard error.
func (h *harness) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().UTC().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
