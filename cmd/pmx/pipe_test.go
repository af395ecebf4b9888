package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe instead of a file is refused at once: no signal would end waiting for its writer.
func TestPipesAreRefused(t *testing.T) {
	keepUmask(t)
	dir := t.TempDir()
	t.Chdir(dir)
	pipe := func(parts ...string) string {
		path := filepath.Join(append([]string{dir}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skipf("no pipes here: %v", err)
		}
		return path
	}
	file := filepath.Join(dir, "a.csv")
	if err := os.WriteFile(file, []byte("a,b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(dir, "parts")
	pipe("parts", "fills.parquet")
	manifest := `{"generator":"pmx","kind":"facts","complete":true,"files":[{"name":"fills.parquet"}]}`
	if err := os.WriteFile(filepath.Join(part, manifestName), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	pipe("c", "cities.csv")
	pipe("s", "stations.csv")
	pipe("v", "venue_wallets.txt")
	pipe("d", "pmx.duckdb")
	for _, args := range [][]string{
		{"import", "--data-dir", "x", filepath.Dir(pipe("m", manifestName))}, {"import", "--data-dir", "x", part}, {"import", "--data-dir", "x", pipe("p.csv")},
		{"import", "--data-dir", "c", file}, {"import", "--data-dir", "s", file}, {"import", "--data-dir", "v", file}, {"import", "--data-dir", "d", file},
		{"version", "--config", pipe("config.json")},
	} {
		var out, errs bytes.Buffer
		done := make(chan int, 1)
		go func() { done <- run(args, stdio{in: strings.NewReader(""), out: &out, err: &errs}) }()
		select {
		case status := <-done:
			if status == 0 || !strings.Contains(errs.String(), "not a regular file") {
				t.Errorf("%v: status %d, %s", args, status, errs.String())
			}
		case <-time.After(time.Minute):
			t.Fatalf("%v: still waiting", args)
		}
	}
}

// An export into a pipe that nobody reads ends with its context.
func TestDeliveryEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	target, from := filepath.Join(dir, "out"), filepath.Join(dir, "from")
	if err := errors.Join(syscall.Mkfifo(target, 0o600), os.WriteFile(from, []byte("x"), 0o600)); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := (stdio{}).moveInto(ctx, target, from); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the end of the context", err)
	}
	reader, err := os.OpenFile(target, os.O_RDONLY|syscall.O_NONBLOCK, 0) // releases the writer that waits
	if err == nil {
		_ = reader.Close()
	}
}
