package follow_test

import (
	"database/sql"
	"testing"
	"time"

	"pmx/rollups/follow"
)

// The status of a source that is not being followed is the stored one, and nil if it never was
// followed.
func TestWhatIsStoredOfMarketsAndQuotes(t *testing.T) {
	k := venue(t, t.TempDir())
	m, err := follow.StoredMarkets(t.Context(), k)
	q, errQuotes := follow.StoredQuotes(t.Context(), k)
	if err != nil || errQuotes != nil || m != nil || q != nil {
		t.Fatalf("err = %v, errQuotes = %v, m = %+v, q = %+v", err, errQuotes, m, q)
	}
	at := time.Date(2026, 11, 7, 1, 2, 3, 0, time.UTC)
	write := func(query string, args ...any) {
		t.Helper()
		if err := k.DB().Write(t.Context(), func(conn *sql.Conn) error {
			_, err := conn.ExecContext(t.Context(), query, args...)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	write("INSERT INTO batches VALUES (1, 'gamma open events', 'gamma-events', ?, NULL, NULL, 0, 1, '{}'), (2, 'fills.csv', 'pmx-fills', ?, NULL, NULL, 1, 0, '{}')",
		at.UnixMicro(), at.Add(time.Hour).UnixMicro())
	if m, err = follow.StoredMarkets(t.Context(), k); err != nil || m != nil {
		t.Errorf("files of these names were imported, and nothing was followed: %v %+v", err, m)
	}
	write("INSERT INTO sync_cursor VALUES ('markets steps', '[]')")
	write("INSERT INTO live_quote VALUES (1, 1, 2, NULL, ?), (2, 1, 2, NULL, ?)", at.UnixMicro(), at.Add(time.Minute).UnixMicro())
	m, err = follow.StoredMarkets(t.Context(), k)
	q, errQuotes = follow.StoredQuotes(t.Context(), k)
	if err != nil || m == nil || len(m.Tasks) != 1 || m.Tasks[0].Phase != follow.Stopped || !m.Tasks[0].LastGood.Equal(at) {
		t.Errorf("err = %v, m = %+v", err, m)
	}
	if errQuotes != nil || q == nil || q.Phase != follow.Stopped || !q.AsOf.Equal(at.Add(time.Minute)) {
		t.Errorf("errQuotes = %v, q = %+v", errQuotes, q)
	}
}
