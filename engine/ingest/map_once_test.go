package ingest

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"

	"pmx/data/testfiles"
)

// TestTokensThatAreMappedOnceNeedNoChoice draws what a file says about tokens: if MapsOnce holds,
// MapOnly gives the same rows as MapBest.
func TestTokensThatAreMappedOnceNeedNoChoice(t *testing.T) {
	r, rng := openRecords(t), rand.New(rand.NewPCG(17, 3))
	rounds, ctx, once := testfiles.Cases(40, 250), context.Background(), 0
	of := func(many ...string) string { return many[rng.IntN(len(many))] }
	err := r.im.DB.Write(ctx, func(conn *sql.Conn) error {
		exec := func(text string) {
			t.Helper()
			if _, err := conn.ExecContext(ctx, text); err != nil {
				t.Fatal(err)
			}
		}
		for round := range rounds {
			exec(statements.Get("MapEmpty"))
			exec("CREATE OR REPLACE TEMP TABLE n_list (market INTEGER, condition BLOB, version BIGINT, ids VARCHAR[])")
			for market := range 3 {
				ids := "NULL"
				if round%4 == 0 {
					ids = of("NULL", "['70']", "['70', '71']", "['72', '70']")
				}
				exec(fmt.Sprintf("INSERT INTO n_list VALUES (%d, unhex('0%d'), %d, %s)", market, market, rng.IntN(3), ids))
			}
			for i := range rng.IntN(5) {
				token := fmt.Sprintf("'7%d'", i)
				if rng.IntN(4) == 0 {
					token = of("'70'", "'71'", "NULL")
				}
				exec(fmt.Sprintf("INSERT INTO n_map VALUES (%s, %s, %s, %s, NULL, false)", token,
					of("unhex('00')", "unhex('01')", "unhex('02')", "unhex('09')", "NULL"), of("NULL", "0", "1", "7"), of("true", "false")))
			}
			var holds bool
			if err := conn.QueryRowContext(ctx, statements.Get("MapsOnce")).Scan(&holds); err != nil {
				return err
			}
			if !holds {
				continue
			}
			exec(statements.Get("MapBest"))
			exec("CREATE OR REPLACE TEMP TABLE best AS FROM n_mapped")
			exec(statements.Get("MapOnly"))
			var rows, differ int
			err := conn.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM best),
  (SELECT count(*) FROM (FROM best EXCEPT ALL FROM n_mapped)) + (SELECT count(*) FROM (FROM n_mapped EXCEPT ALL FROM best))`).Scan(&rows, &differ)
			if err != nil {
				return err
			}
			if differ > 0 {
				t.Errorf("round %d: MapOnly and MapBest differ in %d rows", round, differ)
			}
			if rows > 0 {
				once++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if once < rounds/5 || once > rounds*4/5 {
		t.Errorf("of %d rounds %d mapped each token once: the cases do not try both", rounds, once)
	}
}
