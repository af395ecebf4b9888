package main

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// A supervisor repeats a command unless it ended with 2: then only another command line helps. A
// folder that is missing may come back.
func TestOnlyErrorsOfTheCommandLineAreMisuse(t *testing.T) {
	listen, lake, full := wrong("listen", ": give HOST:PORT"), wrong("lake", " is not a folder"), errors.New("the disk is full")
	for _, tc := range []struct {
		err  error
		want bool
	}{
		{listen, true},
		{fmt.Errorf("serve: %w", listen), true},
		{errors.Join(listen, wrong("threads", " -1")), true},
		{errors.Join(listen, lake), false},
		{lake, false},
		{errors.Join(listen, full), false},
		{full, false},
	} {
		if got := misused(tc.err); got != tc.want {
			t.Errorf("%v: got = %v", tc.err, got)
		}
	}
}

func TestDurationsMayBeInDays(t *testing.T) {
	for text, want := range map[string]time.Duration{"7d": 7 * 24 * time.Hour, "1d12h": 36 * time.Hour, "90s": 90 * time.Second, "0": 0, "-1h": -time.Hour, "0d": 0} {
		if got, err := days(text); err != nil || got != want {
			t.Errorf("%s: got = %s, err = %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "1d2", "1", "soon", "99999d"} {
		if got, err := days(text); err == nil {
			t.Errorf("%q: got = %s", text, got)
		}
	}
}
