package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pmx/engine/ingest"
)

// terminal returns both ends of a pseudo terminal with so many columns.
func terminal(t *testing.T, columns uint16) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there are no pseudo terminals: ", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)); err != nil {
		t.Fatal(err)
	}
	if program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	return screen, program
}

// A line that is longer than the terminal is not overwritten by the next one: a long import would
// fill the screen with bars.
func TestNoBarIsLongerThanALineOfTheTerminal(t *testing.T) {
	for _, columns := range []uint16{40, 80, 200} {
		screen, program := terminal(t, columns)
		bar := newProgressBar(stdio{err: program}, false)
		file := "/data/" + strings.Repeat("a-very-long-name-", 10) + ".csv"
		for i := range 3 {
			bar.file(ingest.Progress{Phase: "reading", File: file, Done: 0.1 + float64(i)/10, Rows: 1e7})
			bar.began = time.Now().Add(-time.Minute)
			time.Sleep(110 * time.Millisecond) // the bar is drawn no more often
		}
		bar.show(strings.Repeat("waiting for everything ", 9), -1, "for an hour")
		bar.clear()
		if _, err := program.WriteString("#"); err != nil {
			t.Fatal(err)
		}
		var drawn strings.Builder
		for part := make([]byte, 4096); !strings.HasSuffix(drawn.String(), "#"); {
			n, err := screen.Read(part)
			if err != nil {
				t.Fatal(err)
			}
			drawn.Write(part[:n])
		}
		bars := 0
		for line := range strings.SplitSeq(strings.TrimSuffix(drawn.String(), "#"), "\r") {
			if n := len([]rune(line)); n > int(columns) {
				t.Errorf("%d columns: %q has %d", columns, line, n)
			}
			if strings.Contains(line, "%") && strings.Contains(line, "|") {
				bars++
			}
		}
		if bars == 0 {
			t.Errorf("%d columns: no bar was drawn: %q", columns, drawn.String())
		}
	}
}
