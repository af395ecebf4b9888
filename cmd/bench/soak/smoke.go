//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// smokeCmd tries a little of everything: that it works, and that the trials do.
type smokeCmd struct{}

// Run runs one short round of each kind. What it does is fixed by counts and not by the time it takes.
func (*smokeCmd) Run(ctx context.Context, h *harness) error {
	c := &runCmd{Steady: 3 * time.Second, Kills: 4, Rate: 500, Fills: 500}
	random := rand.New(rand.NewPCG(h.seed, 4))
	for _, r := range c.rounds(h) {
		if r.name == "memory" || r.name == "clock" { // the one spends its time in rebuilds, the other needs a program of its own
			continue
		}
		h.say("round of %s", r.name)
		if err := r.run(ctx, random); err != nil {
			return fmt.Errorf("round of %s: %w", r.name, err)
		}
	}
	return nil
}
