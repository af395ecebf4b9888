package access

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"pmx/engine/control/record"
)

// maxEndpoints is the maximum number of endpoints whose usage is counted.
const maxEndpoints = 127

// UsageDays is how many days of usage an account shows, today included.
const UsageDays = 30

// Name sets the names of the endpoints that Take is given by index, from 1. It returns an error if
// there are more than maxEndpoints.
func (g *Gate) Name(endpoints []string) error {
	if len(endpoints) > maxEndpoints {
		return fmt.Errorf("%d endpoints: usage is counted for %d at most", len(endpoints), maxEndpoints)
	}
	names := append([]string{""}, endpoints...)
	g.names.Store(&names)
	return nil
}

// Account returns everything known about k, with its usage of the last UsageDays days up to now:
// newest day first, and the busiest endpoint first within a day. It includes what is not saved yet.
func (g *Gate) Account(ctx context.Context, k *Key, now time.Time) (record.Account, error) {
	since := now.UTC().AddDate(0, 0, 1-UsageDays).Format(time.DateOnly)
	a, err := g.store.Account(ctx, k.hash, since)
	if err != nil {
		return record.Account{}, fmt.Errorf("read account of key %s: %w", k.id, err)
	}
	today := k.lastUsed().Format(time.DateOnly)
	for i, name := range *g.names.Load() {
		if n := k.unsaved[i].Load(); n > 0 {
			a.Usage = add(a.Usage, record.Usage{Day: today, Endpoint: name, Requests: n})
		}
	}
	slices.SortFunc(a.Usage, func(x, y record.Usage) int {
		return cmp.Or(cmp.Compare(y.Day, x.Day), cmp.Compare(y.Requests, x.Requests), cmp.Compare(x.Endpoint, y.Endpoint))
	})
	return a, nil
}

// add adds u to the usage of its day and endpoint.
func add(all []record.Usage, u record.Usage) []record.Usage {
	for i := range all {
		if all[i].Day == u.Day && all[i].Endpoint == u.Endpoint {
			all[i].Requests += u.Requests
			return all
		}
	}
	return append(all, u)
}
