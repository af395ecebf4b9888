//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// runCmd is the soak itself.
type runCmd struct {
	For    time.Duration `help:"Duration; a round that has begun is finished." default:"4h"`
	Rounds int           `help:"Stop after this many rounds of faults; 0: when the time is over." default:"0"`
	Only   []string      `help:"Rounds to run: steady, kills, commands, full, descriptors, memory, clock. All by default."`
	Steady time.Duration `help:"Duration of a steady round." default:"10m"`
	Kills  int           `help:"Kills of a server in a round of kills, on one data directory." default:"60"`
	Rate   int           `help:"Maximum number of requests a second." default:"3000"`
	Fills  int64         `help:"Fills of the venues." default:"4000"`
	Strict bool          `help:"Also fail if the slowest requests get slower during a steady round; only for an otherwise idle machine." default:"false"`
}

// round is one kind of test, with its own data directories.
type round struct {
	name string
	run  func(context.Context, *rand.Rand) error
}

// Run runs rounds until the time is over.
func (c *runCmd) Run(ctx context.Context, h *harness) error {
	if len(c.Only) > 0 && slices.ContainsFunc(c.Only, func(name string) bool {
		return !slices.ContainsFunc(c.rounds(h), func(r round) bool { return r.name == name })
	}) {
		return fmt.Errorf("--only %v: there is no such round", c.Only)
	}
	until := time.Now().Add(c.For)
	random := rand.New(rand.NewPCG(h.seed, 0))
	for n := 0; ctx.Err() == nil && time.Now().Before(until); {
		for _, r := range c.rounds(h) {
			if len(c.Only) > 0 && !slices.Contains(c.Only, r.name) || ctx.Err() != nil || time.Now().After(until) {
				continue
			}
			h.say("round of %s", r.name)
			if err := r.run(ctx, random); err != nil && ctx.Err() == nil {
				return fmt.Errorf("round of %s: %w", r.name, err)
			}
			h.count("rounds of "+r.name, 1)
			h.say("%d kills, %d requests, %d checks failed", h.counted(killsOfServers)+h.counted(killsOfCommands), h.counted(requestsAnswered), h.failed())
			if n++; n == c.Rounds {
				return ctx.Err()
			}
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		h.say("stopped before its time")
	}
	return nil
}

func (c *runCmd) rounds(h *harness) []round {
	return []round{
		{"steady", func(ctx context.Context, r *rand.Rand) error { return c.steady(ctx, h, r) }},
		{"kills", func(ctx context.Context, r *rand.Rand) error { return c.kills(ctx, h, r) }},
		{"commands", func(ctx context.Context, r *rand.Rand) error { return c.commands(ctx, h, r) }},
		{"full", func(ctx context.Context, r *rand.Rand) error { return c.full(ctx, h, r) }},
		{"descriptors", func(ctx context.Context, r *rand.Rand) error { return c.descriptors(ctx, h, r) }},
		{"memory", func(ctx context.Context, r *rand.Rand) error { return c.memory(ctx, h, r) }},
		{"clock", func(ctx context.Context, r *rand.Rand) error { return c.clock(ctx, h, r) }},
	}
}

// venue makes the venue of a round.
func (c *runCmd) venue(ctx context.Context, h *harness, r *rand.Rand, dir string) (*venue, error) {
	return h.newVenue(ctx, fmt.Sprintf("v%08x", r.Uint32()), dir, r.Uint64(), c.Fills, 20)
}

// between returns a random duration.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)))
}
