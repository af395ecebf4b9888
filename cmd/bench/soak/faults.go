//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"pmx/engine/guard"
)

// slowClients opens connections that stall: in the head of a request, in its body, and in reading a
// response. It closes them after a while.
func (v *venue) slowClients(ctx context.Context, s *server, n int) error {
	var open []net.Conn
	defer func() {
		for _, conn := range open {
			_ = conn.Close()
		}
	}()
	for i := range n {
		conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", s.addr)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		open = append(open, conn)
		head := "GET /api/v3/leaderboard/traders?limit=1000 HTTP/1.1\r\nHost: soak\r\nX-API-Key: " + v.secrets()[0] + "\r\n"
		switch i % 3 {
		case 0:
			_, err = conn.Write([]byte(head[:len(head)/2]))
		case 1:
			_, err = conn.Write([]byte("POST /api/v3/research/export-jobs HTTP/1.1\r\nHost: soak\r\nContent-Length: 1000\r\n\r\n{"))
		case 2:
			_, err = conn.Write([]byte(strings.Repeat(head+"\r\n", 50)))
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
			return err
		}
	}
	v.count("clients that stalled", int64(n))
	_ = guard.Sleep(ctx, 5*time.Second)
	return nil
}

// full fills the disk of a running server: the server refuses new data, serves what it has, is
// killed, starts on the full disk, and continues as soon as there is space.
func (c *runCmd) full(ctx context.Context, h *harness, r *rand.Rand) (err error) {
	disk := h.path(fmt.Sprintf("disk%08x", r.Uint32()))
	if err := os.Mkdir(disk, 0o700); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=192m"); err != nil {
		h.say("skipped: only root can mount a small disk (%v)", err)
		return os.Remove(disk)
	}
	defer func() { err = errors.Join(err, syscall.Unmount(disk, syscall.MNT_DETACH), os.Remove(disk)) }()
	v, err := c.venue(ctx, h, r, filepath.Join(disk, "d"))
	if err != nil {
		return err
	}
	s, err := h.serve(ctx, v.dir, 0, "--refresh-cron", "@every 1s")
	if err != nil {
		return err
	}
	for n := range 4 {
		if err := v.importNext(ctx); err != nil {
			return err
		}
		if err := fill(filepath.Join(disk, "filler")); err != nil {
			return err
		}
		if s, err = c.onFullDisk(ctx, v, s, n%2 == 1); err != nil {
			return err
		}
		if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
			return err
		}
		if err := v.importNext(ctx); err != nil {
			h.fail("with room again: %v", err)
		}
		if err := v.issue(ctx); err != nil {
			h.fail("with room again: %v", err)
		}
		h.count("full disks", 1)
	}
	if err := s.stop(); err != nil {
		h.fail("%v", err)
	}
	return v.wholeInTheEnd(ctx)
}

// onFullDisk tests a server whose disk is full; if kill is set, it is killed and restarted in
// between. It returns the server that is running at the end.
func (c *runCmd) onFullDisk(ctx context.Context, v *venue, s *server, kill bool) (*server, error) {
	v.mu.Lock()
	slice := v.slices[v.next]
	v.mu.Unlock()
	for _, args := range [][]string{{"import", slice}, {"keys", "issue", "--label", strings.Repeat("x", 100)}} {
		if _, err := v.run(ctx, v.dir, args...); status(err) != 1 || !strings.Contains(err.Error(), "full") {
			v.fail("on a full disk: %v", err)
		}
	}
	_ = guard.Sleep(ctx, 1500*time.Millisecond) // time for a refresh
	if err := v.held(ctx, s); err != nil {
		return s, err
	}
	if !kill {
		return s, nil
	}
	s.kill()
	v.count(killsOfServers, 1)
	s, err := v.serve(ctx, v.dir, 0, "--refresh-cron", "@every 1s")
	if err != nil {
		return s, fmt.Errorf("on a full disk: %w", err)
	}
	v.count("starts on a full disk", 1)
	return s, v.held(ctx, s)
}

// fill writes a file until there is no space for another byte.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for _, size := range []int{1 << 20, 4 << 10, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// descriptors gives a server few file descriptors and uses them all up with connections: the server
// must neither stop nor lose anything, and answer as soon as some are free.
func (c *runCmd) descriptors(ctx context.Context, h *harness, r *rand.Rand) error {
	v, err := c.venue(ctx, h, r, "")
	if err != nil {
		return err
	}
	s, err := h.serve(ctx, v.dir, 80, "--refresh-cron", "@every 1s")
	if err != nil {
		return err
	}
	for range 5 {
		var open []net.Conn
		for range 150 {
			conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", s.addr)
			if err != nil {
				break
			}
			open = append(open, conn)
			_, _ = conn.Write([]byte("GET /api/v3/status/public HTTP/1.1\r\n"))
		}
		h.count("connections that took a server's last descriptors", int64(len(open)))
		// It may be refused, but not lost: acknowledged imports are checked below.
		if err := v.importNext(ctx); err != nil {
			h.count("imports refused for lack of descriptors", 1)
		}
		for _, conn := range open {
			_ = conn.Close()
		}
		if err := s.alive(); err != nil {
			return err
		}
		if err := v.answersSoon(ctx, s); err != nil {
			return err
		}
		if err := v.importNext(ctx); err != nil {
			h.fail("with descriptors again: %v", err)
		}
	}
	if err := v.held(ctx, s); err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		h.fail("%v", err)
	}
	return v.wholeInTheEnd(ctx)
}

// answersSoon waits until the server answers, and fails if it does not within half a minute.
func (v *venue) answersSoon(ctx context.Context, s *server) error {
	var last error
	for n := 0; n < 60 && ctx.Err() == nil; n++ {
		code, _, err := s.get(ctx, "/stats", v.secrets()[0])
		if err == nil && code == 200 {
			return nil
		}
		last = fmt.Errorf("status %d: %w", code, cmpErr(err))
		_ = guard.Sleep(ctx, 500*time.Millisecond)
	}
	return fmt.Errorf("the server does not answer half a minute after the fault: %w", last)
}

// memory gives the server too little memory to start, and the least that it accepts: failures must
// name the reason, and lose nothing.
func (c *runCmd) memory(ctx context.Context, h *harness, r *rand.Rand) error {
	v, err := c.venue(ctx, h, r, "")
	if err != nil {
		return err
	}
	for _, size := range []string{"20MB", "500MB", "512MB", "560MB"} {
		s, err := h.serve(ctx, v.dir, 0, "--memory", size)
		if err != nil {
			if !strings.Contains(err.Error(), "--memory") {
				h.fail("with %s: %v", size, err)
			}
			h.count("starts refused for lack of memory", 1)
			continue
		}
		v.worksOrSaysWhy(ctx, size)
		h.count("servers with too little memory", 1)
		if err := v.held(ctx, s); err != nil {
			return err
		}
		if err := s.stop(); err != nil {
			h.fail("with %s: %v", size, err)
		}
	}
	return v.wholeInTheEnd(ctx)
}

// worksOrSaysWhy imports, rebuilds and verifies next to a server; both share a memory of size.
// Failures must name the memory.
func (v *venue) worksOrSaysWhy(ctx context.Context, size string) {
	for range 3 {
		if err := v.importNext(ctx); err != nil {
			v.count("imports refused for lack of memory", 1)
			if !strings.Contains(err.Error(), "memory") {
				v.fail("with %s: %v", size, err)
			}
		}
	}
	for _, work := range []string{"rebuild", "verify"} {
		if _, err := v.run(ctx, v.dir, work); err != nil {
			v.count("rebuilds and verifications refused for lack of memory", 1)
			if !strings.Contains(err.Error(), "--memory") {
				v.fail("with %s: %v", size, err)
			}
		}
	}
}
