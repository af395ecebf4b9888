package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

func TestFormatsAndLevelsOfTheLog(t *testing.T) {
	for _, tc := range []struct {
		flags logFlags
		json  bool
		lines int
	}{
		{logFlags{"auto", "info"}, true, 2}, // a buffer is no terminal
		{logFlags{"json", "debug"}, true, 3},
		{logFlags{"text", "info"}, false, 2},
		{logFlags{"text", "error"}, false, 1},
	} {
		var out bytes.Buffer
		log := tc.flags.logger(&out)
		log.Debug().Msg("a batch")
		logEnd(log, time.Now(), nil)
		logEnd(log, time.Now(), errors.New("no room"))
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != tc.lines || !strings.Contains(lines[len(lines)-1], "stopped") || !strings.Contains(lines[len(lines)-1], "no room") {
			t.Errorf("%+v: lines = %q", tc.flags, lines)
		}
		for _, line := range lines {
			if json.Valid([]byte(line)) != tc.json || strings.Contains(line, "\x1b") {
				t.Errorf("%+v: line = %q", tc.flags, line)
			}
		}
	}
}

// A service manager that waits for READY must get it once requests are answered and not before,
// and STOPPING as soon as the server was asked to stop.
func TestTheServiceManagerIsNotified(t *testing.T) {
	keepUmask(t)
	socket := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	next := func() string {
		t.Helper()
		message := make([]byte, 100)
		if err := manager.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		n, err := manager.Read(message)
		if err != nil {
			t.Fatal(err)
		}
		return string(message[:n])
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var cli CLI
	var out bytes.Buffer
	parser, err := newParser(&cli, stdio{}, &configResolver{}, func(int) {}, kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		t.Fatal(err)
	}
	command, err := parser.Parse([]string{"serve", "--data-dir", filepath.Join(t.TempDir(), "data"), "--listen", "127.0.0.1:0", "--threads", "1"})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	var errs bytes.Buffer
	go func() { ended <- command.Run(&cli, stdio{out: &out, err: &errs}) }()
	if m := next(); m != "READY=1" {
		t.Errorf("the first message is %q", m)
	}
	stop()
	if m := next(); m != "STOPPING=1" {
		t.Errorf("the message after the stop is %q", m)
	}
	if err := <-ended; err != nil || !strings.HasPrefix(out.String(), "ready http://") {
		t.Errorf("the server printed %q and ended with %v", out.String(), err)
	}
	if n := strings.Count(errs.String(), `"level":"warn"`); n != 1 || !strings.Contains(errs.String(), "the data directory is new and empty: check --data-dir") {
		t.Errorf("of its new directory the server logged %d warnings: %s", n, errs.String())
	}
}

// Programs that read standard error get JSON alone; people get the address of the pages, too.
func TestWhereThePagesAreIsForPeople(t *testing.T) {
	for _, tc := range []struct {
		format string
		told   bool
	}{{"auto", false}, {"json", false}, {"text", true}} {
		var out, errs bytes.Buffer
		flags := logFlags{tc.format, "info"}
		if err := flags.announce(stdio{out: &out, err: &errs}, flags.logger(&errs), "http://127.0.0.1:1", nil); err != nil {
			t.Fatal(err)
		}
		if out.String() != "ready http://127.0.0.1:1/api/v3\n" || strings.Contains(errs.String(), "in a browser: http://127.0.0.1:1/, ") != tc.told {
			t.Errorf("%s: %q, %q", tc.format, out.String(), errs.String())
		}
	}
}
