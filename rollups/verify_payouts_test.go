package rollups_test

import (
	"context"
	"database/sql"
	"slices"
	"testing"

	"pmx/data"
)

// TestVerifySeesPayoutsThatDoNotFitTheOutcomes: there must be one for each.
func TestVerifySeesPayoutsThatDoNotFitTheOutcomes(t *testing.T) {
	v := newVenue(t, []step{{markets: []data.Market{{Condition: condition(0), UpdatedAt: start, Outcomes: []string{"a", "b", "c"}}}}})
	defer v.close()
	v.importStep(0)
	for payouts, refuted := range map[string]bool{"[1000000, 0, 0]": false, "[1000000, 0]": true} {
		v.write(func(ctx context.Context, conn *sql.Conn) error {
			_, err := conn.ExecContext(ctx, "UPDATE markets SET payouts = "+payouts)
			return err
		})
		if bad := v.failed(); slices.Contains(bad, "fitting_payouts") != refuted {
			t.Errorf("%s for three outcomes: verify refutes %v", payouts, bad)
		}
	}
}
