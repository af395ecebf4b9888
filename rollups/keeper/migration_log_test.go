package keeper_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmx/data/feeds"
	"pmx/engine/enginetest"
	"pmx/rollups/keeper"
)

// TestAMigrationIsLogged before the tables of an older version are changed, and nothing otherwise.
func TestAMigrationIsLogged(t *testing.T) {
	dir := t.TempDir()
	logged := func(change string) string {
		var log bytes.Buffer
		k, err := keeper.Open(t.Context(), keeper.Config{Engine: enginetest.Options(t, dir, "1GB"), Feeds: feeds.Catalog{}, Log: zerolog.New(&log)})
		if err != nil {
			t.Fatal(err)
		}
		err = k.DB().Write(t.Context(), func(conn *sql.Conn) error {
			_, err := conn.ExecContext(context.Background(), change)
			return err
		})
		if err := errors.Join(err, k.Close()); err != nil {
			t.Fatal(err)
		}
		return log.String()
	}
	const message = "an older version wrote the tables"
	// As before the newest migration, without rows.
	const older = `DELETE FROM schema_version WHERE version = (SELECT max(version) FROM schema_version);
		DROP TABLE position; CREATE TABLE position AS FROM position_delta;
		DROP TABLE redemption; CREATE TABLE redemption AS FROM redemption_delta;
		DROP TABLE candle; CREATE TABLE candle (token INTEGER, hour INTEGER, fills BIGINT, usd BIGINT, shares BIGINT, opened_ts BIGINT, opened_at BIGINT,
			highest INTEGER, lowest INTEGER, closed_ts BIGINT, closed_at BIGINT)`
	if log := logged(older); strings.Contains(log, message) {
		t.Errorf("of a new database: %s", log)
	}
	if log := logged("SELECT 1"); !strings.Contains(log, message) {
		t.Errorf("of an older database: %q", log)
	}
	if log := logged("SELECT 1"); strings.Contains(log, message) {
		t.Errorf("of a current database: %s", log)
	}
}
