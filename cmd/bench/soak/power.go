//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pmx/engine/guard"
)

const (
	// goingDown shuts a file system of ext4 or XFS down; with withoutLog, what is in its log but
	// not on the disk is lost, as in a power failure.
	goingDown  = 0x8004587d
	withoutLog = 2
	imageSize  = 768 << 20
	// ownMounts is set if the process has its own mount namespace.
	ownMounts = "SOAK_OWN_MOUNTS"
)

// powerCmd shuts file systems down.
type powerCmd struct {
	Shutdowns int      `help:"Shutdowns of each file system." default:"20"`
	Control   int      `help:"Shutdowns of the control, in which DuckDB's syncs do nothing and imports have to be lost; it needs libeatmydata." default:"3"`
	Only      []string `help:"File systems: ext4, xfs. Both by default."`
	Fills     int64    `help:"Fills of the venues." default:"6000"`
}

// Run tests the file systems, and reports those that it has to skip.
func (c *powerCmd) Run(ctx context.Context, h *harness) error {
	if os.Getuid() != 0 {
		h.say("skipped: only root can mount file systems and shut them down")
		return nil
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		h.say("skipped: there are no loop devices here (%v)", err)
		return nil
	}
	random := rand.New(rand.NewPCG(h.seed, 3))
	for _, kind := range []string{"ext4", "xfs"} {
		if len(c.Only) > 0 && !slices.Contains(c.Only, kind) {
			continue
		}
		if _, err := exec.LookPath("mkfs." + kind); err != nil {
			h.say("%s is skipped: there is no mkfs.%s", kind, kind)
			continue
		}
		if err := c.outages(ctx, h, kind, "", c.Shutdowns, random); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	preload := eatMyData()
	if preload == "" {
		h.say("the control is skipped: libeatmydata is not installed")
		return nil
	}
	return c.outages(ctx, h, "ext4", preload, c.Control, random)
}

// AfterApply starts this program again in a new mount namespace before anything is created. A
// namespace that another program creates in the meantime copies all mounts that it sees; while it
// exists, a file system that was shut down could not be mounted again.
func (c *powerCmd) AfterApply() error {
	if os.Getuid() != 0 || os.Getenv(ownMounts) != "" {
		return nil
	}
	runtime.LockOSThread() // the rest runs on one thread, until exec
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("mount namespace: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	return fmt.Errorf("start again: %w", syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), ownMounts+"=1")))
}

// eatMyData returns the path of the library that makes syncs do nothing.
func eatMyData() string {
	for _, pattern := range []string{"/usr/lib/*/libeatmydata.so", "/usr/lib/libeatmydata.so", "/usr/lib64/libeatmydata.so"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// disk is a file system in a file.
type disk struct{ image, at, kind string }

func (h *harness) newDisk(ctx context.Context, name, kind string) (*disk, error) {
	d := &disk{image: h.path(name + ".img"), at: h.path(name), kind: kind}
	err := errors.Join(os.WriteFile(d.image, nil, 0o600), os.Truncate(d.image, imageSize), os.Mkdir(d.at, 0o700))
	if err != nil {
		return nil, err
	}
	if out, err := command(ctx, "mkfs."+kind, "-q", d.image).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mkfs: %w: %s", err, out)
	}
	return d, d.mount(ctx)
}

func (d *disk) mount(ctx context.Context) error {
	for n := 0; ; n++ {
		if out, err := command(ctx, "mount", "-o", "loop", "-t", d.kind, d.image, d.at).CombinedOutput(); err != nil {
			return fmt.Errorf("mount: %w: %s", err, out)
		}
		// While another process, such as one that is just starting, has a mount of it in its
		// namespace, the file system is still the one that was shut down.
		probe := filepath.Join(d.at, "probe")
		err := errors.Join(os.WriteFile(probe, []byte("x"), 0o600), os.Remove(probe))
		if !errors.Is(err, syscall.EIO) || n == 60 || ctx.Err() != nil {
			return err
		}
		if err := d.unmount(); err != nil {
			return err
		}
		_ = guard.Sleep(ctx, time.Second)
	}
}

// unmount waits until no process has open files.
func (d *disk) unmount() (err error) {
	for range 100 {
		if err = syscall.Unmount(d.at, 0); !errors.Is(err, syscall.EBUSY) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// powerOff discards everything that is not on the disk.
func (d *disk) powerOff() error {
	f, err := os.Open(d.at)
	if err != nil {
		return err
	}
	return errors.Join(unix.IoctlSetPointerInt(int(f.Fd()), goingDown, withoutLog), f.Close())
}

// outages shuts one file system down repeatedly under a server that imports, issues keys and backs
// up. If preload is set, it makes the server's syncs do nothing, and then something has to be lost.
func (c *powerCmd) outages(ctx context.Context, h *harness, kind, preload string, times int, r *rand.Rand) (err error) {
	name := kind
	if preload != "" {
		name = "control"
	}
	d, err := h.newDisk(ctx, name, kind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.unmount(), os.Remove(d.image), os.Remove(d.at)) }()
	v, err := h.newVenue(ctx, "on-"+name, filepath.Join(d.at, "d"), r.Uint64(), c.Fills, 20)
	if err != nil {
		return err
	}
	v.backups = filepath.Join(d.at, "backups")
	if err := syncAll(d.at); err != nil {
		return err
	}
	lost := 0
	for n := range times {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := v.outage(ctx, d, preload, between(r, 0, 2*time.Second)); err != nil {
			return err
		}
		h.count("shutdowns of "+name, 1)
		gone, err := v.afterOutage(ctx, n == times-1, preload != "")
		if err != nil {
			return err
		}
		if gone {
			lost++
		}
	}
	h.count("  after which acknowledged imports or keys were lost on "+name, int64(lost))
	if preload != "" && lost == 0 {
		h.fail("the control lost nothing: this machine cannot simulate a power failure")
	}
	h.say("%s: %d shutdowns, %d lost something", name, times, lost)
	return nil
}

// syncAll writes everything to the disk: the venue is to survive the first power failure.
func syncAll(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}

// outage runs a server until some imports are acknowledged, and a while longer, and then shuts down
// its file system.
func (v *venue) outage(ctx context.Context, d *disk, preload string, after time.Duration) error {
	if preload != "" {
		if err := os.Setenv("LD_PRELOAD", preload); err != nil {
			return err
		}
	}
	s, err := v.serve(ctx, v.dir, 0, "--refresh-cron", "@every 2s")
	if err := errors.Join(err, os.Unsetenv("LD_PRELOAD")); err != nil {
		return err
	}
	enough := v.counted(importsAcknowledged) + 2
	var all sync.WaitGroup
	for _, f := range []func() error{
		func() error { return v.importNext(ctx) },
		func() error { return v.issue(ctx) },
		func() error {
			_, err := v.run(ctx, v.dir, "backup", v.backups, "--keep", "3")
			if err == nil {
				v.count("backups acknowledged", 1)
			}
			return err
		},
	} {
		all.Add(1)
		go func() {
			defer all.Done()
			for f() == nil {
				continue
			}
		}()
	}
	for n := 0; n < 600 && ctx.Err() == nil && v.counted(importsAcknowledged) < enough; n++ {
		_ = guard.Sleep(ctx, 100*time.Millisecond)
	}
	_ = guard.Sleep(ctx, after)
	err = d.powerOff()
	s.kill()
	all.Wait()
	if err != nil {
		return fmt.Errorf("shut down: %w", err)
	}
	if err := d.unmount(); err != nil {
		return fmt.Errorf("unmount: %w", err)
	}
	return d.mount(ctx)
}

// afterOutage checks what was acknowledged, verifies the data, and checks the backups. For the
// control, losses are expected and forgotten.
func (v *venue) afterOutage(ctx context.Context, last, control bool) (lost bool, err error) {
	s, err := v.serve(ctx, v.dir, 0)
	if err != nil {
		return false, err
	}
	if control {
		return v.forget(ctx, s)
	}
	failed := v.failed()
	if err := v.held(ctx, s); err != nil {
		return false, err
	}
	if err := s.stop(); err != nil {
		return false, err
	}
	v.verified(ctx, v.dir)
	if exists(filepath.Join(v.backups, "CURRENT")) {
		if out, err := v.run(ctx, v.dir, "backup", v.backups, "--verify"); err != nil && !strings.Contains(err.Error(), "no backup") {
			v.fail("after a shutdown: %v: %s", err, out)
		}
		v.count("folders of backups checked after a shutdown", 1)
		if last {
			v.restored(ctx)
		}
	}
	return v.failed() > failed, nil
}

// forget reports whether fills are lost, and treats what exists as acknowledged.
func (v *venue) forget(ctx context.Context, s *server) (bool, error) {
	m, err := s.metrics(ctx)
	if err != nil {
		return false, err
	}
	n := int64(m[`pmx_served_rows{kind="fills"}`])
	v.mu.Lock()
	lost := n < v.fills
	v.count("fills lost by the control, as expected", max(0, v.fills-n))
	v.next, v.fills, v.doubt = 0, 0, 0
	for v.next < len(v.rows) && v.fills+v.rows[v.next] <= n {
		v.fills += v.rows[v.next]
		v.next++
	}
	v.mu.Unlock()
	return lost, s.stop()
}
