package follow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pmx/data"
	"pmx/engine/ingest"
	"pmx/rollups/follow"
)

// unwilling is a venue that refuses rows.
type unwilling struct {
	follow.Venue
	why error
}

func (u unwilling) Commit(ctx context.Context, rows ingest.Rows, coming ingest.Remaining) (ingest.Receipt, error) {
	if rows.Read != nil {
		return ingest.Receipt{}, u.why
	}
	return u.Venue.Commit(ctx, rows, coming)
}

// TestOnceEndsWhereItCannotSucceed with the reason, instead of trying forever.
func TestOnceEndsWhereItCannotSucceed(t *testing.T) {
	h := chainOf(t)
	down := errors.New("connection refused")
	for name, tc := range map[string]struct {
		fail   error // of the node
		refuse error // of the database
		from   int64
		want   string
	}{
		"no node answers":               {down, nil, h.first - 10, "no node has answered for 5m0s: only: connection refused"},
		"none answers where to begin":   {down, nil, 0, "no node has answered for 5m0s: only: connection refused"},
		"another chain":                 {fmt.Errorf("chain 1: %w", follow.ErrUnfit), nil, h.first - 10, "no node serves the chain that is followed: only: chain 1"},
		"another chain, where to begin": {fmt.Errorf("chain 1: %w", follow.ErrUnfit), nil, 0, "no node serves the chain that is followed: only: chain 1"},
		"a database that takes nothing": {nil, errors.New("could not write"), h.first - 10, "blocks could not be stored after 5 attempts: could not write"},
		"a full disk":                   {nil, &data.NoSpace{Text: "the disk is full"}, h.first - 10, "the disk is full"},
	} {
		t.Run(name, func(t *testing.T) {
			n := h.node("only")
			if tc.fail != nil {
				n.fail = func(_, _ int64) error { return tc.fail }
			}
			o := h.options(venue(t, t.TempDir()), n)
			if tc.refuse != nil {
				o.Venue = unwilling{o.Venue, tc.refuse}
			}
			o.FromBlock = tc.from
			now := newClock()
			o.Now = now.time
			o.Sleep = func(ctx context.Context, d time.Duration) error { now.advance(d); return ctx.Err() }
			if tc.fail != nil {
				now.pace(t, 5_000)
			} else {
				now.pace(t, 50)
				o.Patience = 1000 * time.Hour
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			if err := lane(t, o).Once(ctx); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("err = %v, want %q", err, tc.want)
			}
		})
	}
}
