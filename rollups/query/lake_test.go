package query

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
)

// A shard has 16 days of a wallet or a token. Of these, only the days that a page needs are read,
// and the result is that of the files of these days, including the ordinals of equal fills.
func TestFillsAreReadOfSomeDaysOfShards(t *testing.T) {
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
	do("CREATE TABLE tokens AS SELECT * FROM (VALUES (1, '71'), (2, '8')) AS t(token, token_id)")
	// Each fill occurs twice, at the first and at the last moment of its day.
	do(fmt.Sprintf(`CREATE TABLE all_fills AS SELECT (%d + day) * 86400000000 + edge AS us, who AS wallet, '71' AS token, 'BUY' AS side, 'maker' AS role, 10::DECIMAL(18, 6) AS shares,
  5::DECIMAL(18, 6) AS usd, 0::DECIMAL(18, 6) AS fee, 'usd' AS fee_asset, NULL::VARCHAR AS transaction_hash, NULL::INTEGER AS log_index
FROM range(16) AS d(day), (VALUES (0), (86399999999)) AS e(edge), (VALUES ('%s'), ('%s')) AS w(who), range(2)`, first, who, other))
	do("INSERT INTO all_fills SELECT * REPLACE ('8' AS token) FROM all_fills")
	dir := t.TempDir()
	shard, one, eight := filepath.Join(dir, "shard.parquet"), filepath.Join(dir, "71.parquet"), filepath.Join(dir, "08.parquet")
	do("COPY (FROM all_fills ORDER BY wallet, us) TO " + quoted(shard))
	do("COPY (FROM all_fills WHERE token = '71' ORDER BY token, us) TO " + quoted(one))
	do("COPY (FROM all_fills WHERE token = '8' ORDER BY token, us) TO " + quoted(eight))
	days, shards := &Lake{Days: map[int64]string{}}, &Lake{Days: map[int64]string{}, Wallets: map[int64][]Shard{}, Tokens: map[int64][]Shard{}}
	for day := int64(first); day < first+16; day++ {
		days.Days[day] = filepath.Join(dir, fmt.Sprintf("%d.parquet", day))
		do(fmt.Sprintf("COPY (FROM all_fills WHERE us // %d = %d) TO %s", dayLength, day, quoted(days.Days[day])))
		shards.Wallets[day] = []Shard{{Prefix: "0xa", Path: shard}}
		shards.Tokens[day] = []Shard{{Suffix: "08", Path: eight}, {Suffix: "71", Path: one}}
	}
	for _, page := range [][]int64{{first}, {first + 7}, {first + 15, first + 14, first + 13}} {
		for _, what := range []struct {
			of   string
			n    int // fills of a day
			read func(l *Lake) (string, error)
		}{
			{"a wallet", 8, func(l *Lake) (string, error) { return l.fillsOfWallet(page, who) }},
			{"a token", 8, func(l *Lake) (string, error) { return l.fillsOfTokens(page, []string{"8"}) }},
			{"two tokens", 16, func(l *Lake) (string, error) { return l.fillsOfTokens(page, []string{"71", "8"}) }},
		} {
			var tables []string
			for _, l := range []*Lake{days, shards} {
				text, err := what.read(l)
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
			if n != what.n*len(page) || twice != what.n/2*len(page) || different != 0 {
				t.Errorf("of %s and %d days of shards %d fills are read, %d of them equal to another; %d are not as in the days", what.of, len(page), n, twice, different)
			}
		}
	}
	if _, err := shards.fillsOfTokens([]int64{first}, []string{"9"}); err == nil {
		t.Error("fills without a shard are not missed")
	}
}
