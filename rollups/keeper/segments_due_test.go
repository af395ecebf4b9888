package keeper

import (
	"errors"
	"testing"
	"time"

	"pmx/rollups/segments/fillseg"
	"pmx/rollups/segments/textseg"
)

func TestWhenFilesAreWritten(t *testing.T) {
	now := time.Now()
	tried := func(ago time.Duration, failed bool) *segmentSet {
		return &segmentSet{buildTime: time.Second, builtAt: now.Add(-ago), buildFailed: failed}
	}
	written, longAgo := tried(10*time.Second, false), tried(21*time.Second, false)
	const large = 100_000_000
	fine, known := fillseg.Stats{Ready: true}, textseg.Stats{Ready: true}
	for _, c := range []struct {
		what            string
		r               *segmentSet
		wallets, tokens fillseg.Stats
		texts           textseg.Stats
		due             bool
	}{
		{"nobody asked yet", &segmentSet{}, fillseg.Stats{Idle: true}, fine, known, false},
		{"nobody asked for texts yet", &segmentSet{}, fillseg.Stats{}, fine, textseg.Stats{Idle: true}, false},
		{"there is none", &segmentSet{}, fillseg.Stats{}, fine, known, true},
		{"there is none of tokens", written, fine, fillseg.Stats{}, known, true},
		{"there is none of texts", written, fine, fine, textseg.Stats{}, true},
		{"there is none, and the last try failed", tried(10*time.Second, true), fillseg.Stats{}, fine, known, false},
		{"it failed long ago", tried(21*time.Second, true), fillseg.Stats{}, fine, known, true},
		{"nothing came in", longAgo, fillseg.Stats{Ready: true, Stored: large}, fine, known, false},
		{"a new venue", &segmentSet{}, fillseg.Stats{Ready: true, Recent: minFlushFills - 1}, fine, known, false},
		{"a new venue grows", &segmentSet{}, fillseg.Stats{Ready: true, Recent: minFlushFills}, fine, known, true},
		{"few beside many", written, fillseg.Stats{Ready: true, Stored: 1_600_000, Recent: 99_999}, fine, known, false},
		{"a sixteenth", written, fillseg.Stats{Ready: true, Stored: 1_600_000, Recent: 100_000}, fine, known, true},
		{"the most there may be", written, fillseg.Stats{Ready: true, Stored: large, Recent: maxMemtableFills}, fine, known, true},
		{"tokens wait for wallets", written, fine, fillseg.Stats{Ready: true, Recent: minFlushFills}, known, false},
		{"a fill was replaced", written, fillseg.Stats{Ready: true, Stored: large, Dirty: 1}, fine, known, false},
		{"a fill was replaced a while ago", longAgo, fillseg.Stats{Ready: true, Stored: large, Dirty: 1}, fine, known, true},
		{"a file was damaged, and those before it are served", longAgo, fillseg.Stats{Ready: true, Stored: large, Damage: errors.New("damaged")}, fine, known, true},
		{"a fill of a token was", longAgo, fine, fillseg.Stats{Ready: true, Dirty: 1}, known, true},
		{"some texts changed", longAgo, fine, fine, textseg.Stats{Ready: true, Text: maxMemtableTexts - 1}, false},
		{"many texts changed", written, fine, fine, textseg.Stats{Ready: true, Text: maxMemtableTexts}, true},
	} {
		if got := c.r.due(c.wallets, c.tokens, c.texts, now); got != c.due {
			t.Errorf("%s: due %v", c.what, got)
		}
	}
}

// TestMissedFillsAreReadOnce: after the maximum number of missed fills was read, new files are due.
func TestMissedFillsAreReadOnce(t *testing.T) {
	for _, c := range []struct{ stored, recent, most int64 }{
		{0, 0, minMissedFills},
		{1_000_000, 0, minMissedFills},
		{8_000_000, 0, 500_000},
		{8_000_000, 200_000, 300_000},
		{8_000_000, 400_000, minMissedFills},
		{100_000_000, 0, maxMemtableFills},
	} {
		s := fillseg.Stats{Ready: true, Stored: c.stored, Recent: c.recent}
		if got := mostMissed(s); got != c.most {
			t.Errorf("%d fills in the file and %d outside of it: %d, want %d", c.stored, c.recent, got, c.most)
		}
		if s.Recent += mostMissed(s); !memtableGrown(s) {
			t.Errorf("%d fills in the file and %d outside of it: no file is due", c.stored, s.Recent)
		}
	}
}
