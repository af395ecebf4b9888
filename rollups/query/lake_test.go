package query

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
)

// Of a shard, which has 16 days of a wallet, only those days are read that a page needs, and what is read of them is what the files of the days have,
// with the numbers of equal fills.
func TestFillsOfAWalletAreReadOfSomeDays(t *testing.T) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	do := func(text string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	const first = 20_464
	who, other := "0x"+strings.Repeat("ab", 20), "0x"+strings.Repeat("ac", 20)
	do("CREATE TABLE wallets AS SELECT 1 AS wallet, unhex('" + who[2:] + "') AS address UNION ALL SELECT 2, unhex('" + other[2:] + "')")
	do("CREATE TABLE tokens AS SELECT 1 AS token, '71' AS token_id")
	// Each fill is there twice, at the first and at the last moment of its day.
	do(fmt.Sprintf(`CREATE TABLE all_fills AS SELECT (%d + day) * 86400000000 + edge AS us, who AS wallet, '71' AS token, 'BUY' AS side, 'maker' AS role, 10::DECIMAL(18, 6) AS shares,
  5::DECIMAL(18, 6) AS usd, 0::DECIMAL(18, 6) AS fee, 'usd' AS fee_asset, NULL::VARCHAR AS transaction_hash, NULL::INTEGER AS log_index
FROM range(16) AS d(day), (VALUES (0), (86399999999)) AS e(edge), (VALUES ('%s'), ('%s')) AS w(who), range(2)`, first, who, other))
	dir := t.TempDir()
	shard := filepath.Join(dir, "shard.parquet")
	do("COPY (FROM all_fills ORDER BY wallet, us) TO " + quoted(shard))
	days, shards := &Lake{Days: map[int64]string{}}, &Lake{Days: map[int64]string{}, Shards: map[int64][]Shard{}}
	for day := int64(first); day < first+16; day++ {
		days.Days[day] = filepath.Join(dir, fmt.Sprintf("%d.parquet", day))
		do(fmt.Sprintf("COPY (FROM all_fills WHERE us // %d = %d) TO %s", dayLength, day, quoted(days.Days[day])))
		shards.Shards[day] = []Shard{{"0xa", shard}}
	}
	for _, page := range [][]int64{{first}, {first + 7}, {first + 15, first + 14, first + 13}} {
		var tables []string
		for _, l := range []*Lake{days, shards} {
			text, err := l.fillsOfWallet(page, who)
			if err != nil {
				t.Fatal(err)
			}
			tables = append(tables, text)
		}
		var n, twice, different int
		query := fmt.Sprintf("SELECT (SELECT count(*) FROM %[2]s), (SELECT count(*) FROM %[2]s WHERE repeat = 2), (SELECT count(*) FROM ((FROM %[1]s EXCEPT ALL FROM %[2]s) UNION ALL (FROM %[2]s EXCEPT ALL FROM %[1]s)))",
			tables[0], tables[1])
		if err := db.QueryRowContext(t.Context(), query).Scan(&n, &twice, &different); err != nil {
			t.Fatal(err)
		}
		if n != 4*len(page) || twice != 2*len(page) || different != 0 {
			t.Errorf("of %d days of a shard %d fills are read, %d of them equal to another; %d are not as in the days", len(page), n, twice, different)
		}
	}
}
