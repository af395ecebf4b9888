//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// smokeCmd tests a little of everything, including the tests themselves.
type smokeCmd struct{}

// Run runs one short round of each kind. Its work is fixed by counts, not by time.
func (*smokeCmd) Run(ctx context.Context, h *harness) error {
	c := &runCmd{Steady: 3 * time.Second, Kills: 4, Rate: 500, Fills: 500}
	random := rand.New(rand.NewPCG(h.seed, 4))
	for _, r := range c.rounds(h) {
		if r.name == "memory" || r.name == "clock" { // the former takes long for rebuilds, the latter needs a special build
			continue
		}
		h.say("round of %s", r.name)
		if err := r.run(ctx, random); err != nil {
			return fmt.Errorf("round of %s: %w", r.name, err)
		}
	}
	return nil
}
