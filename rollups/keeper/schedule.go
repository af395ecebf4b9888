package keeper

import (
	"context"
	"errors"
	"fmt"

	"pmx/engine"
	"pmx/rollups"
)

// Schedule is when background work is done, in cron syntax ("@every 30s" and
// five fields, UTC). An empty entry is never.
type Schedule struct {
	Refresh string // import the inbox, rebuild what is stale, compact, checkpoint
	Verify  string // verify the whole database and log what fails
	Chores  []Chore
}

// Chore is work of another package on the same schedule. It runs concurrently with the keeper's own
// work, but never twice at once.
type Chore struct {
	Name string
	When string
	Do   func(context.Context) error
}

// Check reports whether every entry is valid.
func (s Schedule) Check() error {
	all := append([]Chore{{When: s.Refresh}, {When: s.Verify}}, s.Chores...)
	for _, chore := range all {
		if chore.When == "" {
			continue
		}
		if _, err := newTurn(chore.Name, chore.When, chore.Do); err != nil {
			return err
		}
	}
	return nil
}

func (k *Keeper) logged(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, engine.ErrDiskFull) { // noteDiskSpace has logged that one
		k.cfg.Log.Error().Err(err).Str("job", what).Msg("background work failed")
	}
}

func (k *Keeper) verifyNightly(ctx context.Context) error {
	checks, err := k.Verify(ctx, nil)
	if err != nil {
		return err
	}
	return refutedBy(checks)
}

// refutedBy lists the checks that failed; nil if none did.
func refutedBy(checks []rollups.Check) (failed error) {
	for _, c := range checks {
		switch {
		case c.OK:
		case c.Bad == 0: // it is not about rows
			failed = errors.Join(failed, fmt.Errorf("%s: %s", c.Name, c.Detail))
		default:
			failed = errors.Join(failed, fmt.Errorf("%s: %d of %d rows: %s", c.Name, c.Bad, c.Rows, c.Detail))
		}
	}
	return failed
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
