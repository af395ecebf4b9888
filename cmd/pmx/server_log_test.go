package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
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
			t.Errorf("%+v: %q", tc.flags, lines)
		}
		for _, line := range lines {
			if json.Valid([]byte(line)) != tc.json || strings.Contains(line, "\x1b") {
				t.Errorf("%+v: %q", tc.flags, line)
			}
		}
	}
}
