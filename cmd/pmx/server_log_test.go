package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
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
	parser, err := newParser(&cli, stdio{}, func(int) {}, kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		t.Fatal(err)
	}
	command, err := parser.Parse([]string{"serve", "--data-dir", filepath.Join(t.TempDir(), "data"), "--listen", "127.0.0.1:0", "--threads", "1"})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Run(&cli, stdio{out: &out, err: io.Discard}) }()
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
}
