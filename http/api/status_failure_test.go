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
