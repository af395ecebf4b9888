package api

import (
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/engine/guard"
	"pmx/rollups/serving"
)

func TestBackgroundFailuresAreShown(t *testing.T) {
	now := time.Now()
	fresh := serving.Freshness{LastCycle: now, LastMarkets: now}
	watch := guard.New(zerolog.Nop())
	_ = watch.Do("warm", func() error { return nil })
	if text := failureText(fresh, watch); text != "" {
		t.Errorf("without trouble: %q", text)
	}
	_ = watch.Do("warm", func() error { panic("/secret/path") })
	full := fresh
	full.DiskFull = true
	for _, c := range []struct {
		fresh serving.Freshness
		want  string
	}{{fresh, "(warm, last at"}, {full, "The disk is full"}} {
		subsystems := gradeAll(c.fresh, failureText(c.fresh, watch), now, now, false)
		grade, detail := worstGrade(subsystems[:])
		if grade != "D" || !subsystems[0].failed || !strings.Contains(detail, c.want) || strings.Contains(detail, "secret") {
			t.Errorf("grade = %s, subsystems[0].failed = %v, detail = %q", grade, subsystems[0].failed, detail)
		}
	}
	_ = watch.Do("warm", func() error { return nil })
	if text := failureText(fresh, watch); text != "" {
		t.Errorf("after it went well: %q", text)
	}
}

// On a replica nothing can be imported or refreshed: whatever is late or missing, the advice names the writer or the backups.
func TestAReplicaAdvisesToLookAtItsWriter(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	old := now.Add(-100 * time.Hour)
	for name, fresh := range map[string]serving.Freshness{
		"nothing": {}, "old": {LastCycle: old, LastMarkets: old}, "failed": {LastCycle: now, FailureText: "a block is damaged", LastMarkets: old},
	} {
		for _, historical := range []bool{false, true} {
			all := gradeAll(fresh, "", fresh.LastCycle, now, historical)
			for i := range all {
				text := all[i].detail()
				if all[i].copied = true; text == "" {
					continue
				}
				copied := all[i].detail()
				if !strings.Contains(copied, "writer") && !strings.Contains(copied, "backup") || strings.Contains(copied, ": import") || strings.Contains(copied, "refresh") ||
					strings.Contains(text, "--historical") != strings.Contains(copied, "--historical") {
					t.Errorf("%s, %s, historical %v: %q instead of %q", name, all[i].rule.name, historical, copied, text)
				}
			}
		}
	}
}
