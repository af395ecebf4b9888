//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// startWithin is how long a server may take to answer on a busy machine.
	startWithin = 3 * time.Minute
	// commandWithin is how long a command may take.
	commandWithin = 10 * time.Minute
)

// server is a running pmx serve.
type server struct {
	dir   string // data directory
	addr  string // HOST:PORT
	cmd   *exec.Cmd
	ended chan error
	err   *bytes.Buffer
	admin *http.Client
}

// command prepares a process that is ended with this one.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// command prepares a process of pmx.
func (h *harness) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := command(ctx, name, args...)
	cmd.Env = append(os.Environ(), h.env...)
	return cmd
}

// run runs a command of pmx on a data directory. An error contains its output.
func (h *harness) run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandWithin)
	defer cancel()
	cmd := h.command(ctx, h.pmx, append(args, "--data-dir", dir)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("pmx %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return out.Bytes(), nil
}

// status returns the exit status of a command; -1 if it was killed or ended in another way.
func status(err error) int {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		return ended.ExitCode()
	}
	return -1
}

// launch starts a server without waiting for it. limit, if above 0, is its limit of file
// descriptors.
func (h *harness) launch(ctx context.Context, dir string, limit int, args ...string) (*server, io.ReadCloser, error) {
	args = append([]string{"serve", "--data-dir", dir, "--listen", "127.0.0.1:0", "--historical", "--threads", "1",
		"--log", filepath.Join(h.dir, "server.log")}, args...)
	name := h.pmx
	if limit > 0 {
		name, args = "sh", append([]string{"-c", "ulimit -n " + strconv.Itoa(limit) + ` && exec "$0" "$@"`, h.pmx}, args...)
	}
	s, out, err := h.prepare(ctx, name, args...)
	if err != nil {
		return nil, nil, err
	}
	s.dir = dir
	s.admin = &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dir, "admin.sock"))
	}}}
	return s, out, s.cmd.Start()
}

// prepare prepares a process that runs until it is ended.
func (h *harness) prepare(ctx context.Context, name string, args ...string) (*server, io.ReadCloser, error) {
	s := &server{cmd: h.command(ctx, name, args...), err: &bytes.Buffer{}, ended: make(chan error, 1)}
	s.cmd.Stderr = s.err
	out, err := s.cmd.StdoutPipe()
	return s, out, err
}

// serve starts a server and waits until it answers.
func (h *harness) serve(ctx context.Context, dir string, limit int, args ...string) (*server, error) {
	s, out, err := h.launch(ctx, dir, limit, args...)
	if err != nil {
		return nil, err
	}
	if err := s.await(out, func(line string) (string, bool) {
		url, ok := strings.CutPrefix(line, "ready http://")
		return strings.TrimSuffix(url, "/api/v3"), ok
	}); err != nil {
		return nil, err
	}
	h.count("starts of a server", 1)
	return s, nil
}

// await waits until a line of the output contains the address.
func (s *server) await(out io.Reader, address func(line string) (string, bool)) error {
	ready := make(chan string, 1)
	go func() {
		lines, told := bufio.NewScanner(out), false
		for lines.Scan() {
			if addr, ok := address(lines.Text()); ok && !told {
				told = true
				ready <- addr
			}
		}
		s.ended <- s.cmd.Wait()
	}()
	select {
	case s.addr = <-ready:
		return nil
	case err := <-s.ended:
		return fmt.Errorf("the server ended before it was ready: %w: %s", cmpErr(err), tail(s.err.String()))
	case <-time.After(startWithin):
		_ = s.cmd.Process.Kill()
		return errors.Join(fmt.Errorf("the server was not ready after %s", startWithin), <-s.ended)
	}
}

func cmpErr(err error) error {
	if err == nil {
		return errors.New("status 0")
	}
	return err
}

func tail(text string) string {
	text = strings.TrimSpace(text)
	return text[max(0, len(text)-2000):]
}

// kill kills the server.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.ended
}

// stop ends the server as an operator does.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-s.ended:
		if err != nil {
			return fmt.Errorf("the server did not stop cleanly: %w: %s", err, tail(s.err.String()))
		}
		return nil
	case <-time.After(startWithin):
		s.kill()
		return fmt.Errorf("the server did not stop within %s of SIGTERM", startWithin)
	}
}

// alive returns an error if the process has ended.
func (s *server) alive() error {
	select {
	case err := <-s.ended:
		s.ended <- err
		return fmt.Errorf("the server ended by itself: %w: %s", cmpErr(err), tail(s.err.String()))
	default:
		return nil
	}
}

// metrics reads the metrics of the server from its admin socket, by name with labels.
func (s *server) metrics(ctx context.Context) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://admin/metrics", nil)
	if err != nil {
		return nil, err
	}
	res, err := s.admin.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("/metrics: %s", res.Status)
	}
	found := map[string]float64{}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		name, text, ok := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(text, 64); ok && err == nil && name != "#" {
			found[name] = v
		}
	}
	return found, lines.Err()
}

// get sends one GET request.
func (s *server) get(ctx context.Context, path, key string) (int, string, error) {
	return s.send(ctx, http.MethodGet, path, key, "")
}

// send sends a request and returns the status and the body of the response.
func (s *server) send(ctx context.Context, method, path, key, body string) (int, string, error) {
	code, text, _, err := s.sendFor(ctx, method, path, key, "", body)
	return code, text, err
}

// ask sends one GET request with If-None-Match. It also returns the ETag.
func (s *server) ask(ctx context.Context, path, key, etag string) (int, string, string, error) {
	return s.sendFor(ctx, http.MethodGet, path, key, etag, "")
}

func (s *server) sendFor(ctx context.Context, method, path, key, etag, body string) (code int, text, is string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.addr+"/api/v3"+path, strings.NewReader(body))
	if err != nil {
		return 0, "", "", err
	}
	req.Close = true
	req.Header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{"X-API-Key": key, "If-None-Match": etag} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", "", err
	}
	defer res.Body.Close()
	all, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	return res.StatusCode, string(all), res.Header.Get("ETag"), err
}

// exists reports whether there is something at the path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
