package ingest_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/data/testfiles"
	"pmx/engine/ingest"
)

// notWhole are values that casts of text would accept as numbers, and wholeNumbers are valid ones.
var (
	notWhole     = []string{"-1", "3.7", "0.6", "1e2", "0x10", "1_000", "+4", "7x", "99999999999999999999"}
	wholeNumbers = []string{"7", "7.0"}
)

// wholeColumns are the columns of whole numbers of every text feed, each with a row of the feed: %
// is the value.
var wholeColumns = []struct{ feed, name, header, row, reason string }{
	{"pmx-fills", "f.csv", "ts,address,token_id,side,shares,usd,transaction_hash,log_index", "1767000000," + addressA + ",71,BUY,10,4," + hashOne + ",%", "bad_log_index"},
	{"pmx-fills", "f.csv", "ts,address,token_id,side,shares,usd,block", "1767000000," + addressA + ",71,BUY,10,4,%", "bad_block"},
	{"pmx-fills", "f.csv", "ts,address,token_id,side,shares,usd,condition_id,outcome_index", "1767000000," + addressA + ",71,BUY,10,4," + hashTwo + ",%", "bad_outcome"},
	{"pmx-fills", "f.ndjson", "", `{"ts":1767000000,"address":"` + addressA + `","token_id":"71","side":"BUY","shares":"10","usd":"4","transaction_hash":"` + hashOne + `","log_index":"%"}`, "bad_log_index"},
	{"polymarket-trades-csv", "t.csv", "proxyWallet,side,asset,conditionId,size,price,timestamp,outcomeIndex", addressA + ",BUY,71," + hashTwo + ",10,0.5,1767000000,%", "bad_outcome"},
	{"polymarket-trades", "t.ndjson", "", `{"proxyWallet":"` + addressA + `","side":"BUY","asset":"71","conditionId":"` + hashTwo + `","size":10,"price":0.4,"timestamp":1767000000,"outcomeIndex":"%"}`, "bad_outcome"},
	{"polydata-order-filled", "o.csv", "timestamp,maker,makerAssetId,makerAmountFilled,taker,takerAssetId,takerAmountFilled,transactionHash",
		"1700000000," + addressA + ",0,1," + addressB + ",77,%," + hashOne, "bad_amount"},
	{"subgraph-order-filled", "s.ndjson", "", `{"makerAssetId":"0","takerAssetId":"71","makerAmountFilled":"1","takerAmountFilled":"9","maker":"` + addressA +
		`","timestamp":"1767000000","transactionHash":"` + hashOne + `","fee":"%"}`, "bad_amount"},
	{"subgraph-positions", "p.ndjson", "", `{"id":"71","condition":"` + hashTwo + `","outcomeIndex":"%"}`, "bad_outcome"},
	{"pmx-forecasts", "c.csv", "city,target,metric,source,issued_at,value,unit,shift", "nyc,2026-01-05,tmax,x,2026-01-04T00:00:00Z,40,F,%", "bad_number"},
	{"pmx-actuals", "a.csv", "city,day,metric,kind,source,value,unit,shift", "nyc,2026-01-05,tmax,station,x,40,F,%", "bad_number"},
	{"pmx-observations", "b.csv", "city,station,source,ts,value,unit,correction", "nyc,KLGA,x,2026-01-05T10:00:00Z,40,F,%", "bad_number"},
	{"pmx-normals", "n.csv", "city,metric,month_day,source,value,unit,years", "nyc,tmax,01-05,x,40,F,%", "bad_number"},
	{"ncei-normals", "e.csv", "STATION,DATE,DLY-TMAX-NORMAL,years_DLY-TMAX-NORMAL", "USW00014732,01-05,40,%", "bad_number"},
}

// TestAWholeNumberIsParsed: in every feed, a column of whole numbers accepts only digits. A row
// with a sign, fraction, exponent or other base is rejected.
func TestAWholeNumberIsParsed(t *testing.T) {
	v := open(t)
	for _, c := range wholeColumns {
		v.empty()
		var b strings.Builder
		if c.header != "" {
			b.WriteString(c.header + "\n")
		}
		bad := int64(len(notWhole))
		for _, value := range append(append([]string{}, wholeNumbers...), notWhole...) {
			b.WriteString(strings.Replace(c.row, "%", value, 1) + "\n")
		}
		if strings.HasSuffix(c.header, ",shift") {
			bad-- // a day may begin a second earlier
		}
		r, err := v.load(c.name, b.String())
		if err != nil || r.Feed != c.feed || r.Rejected[c.reason] != bad || r.RejectedRows() != bad || r.Read != int64(len(notWhole)+len(wholeNumbers)) {
			t.Errorf("%s %s: err = %v, r = %+v", c.feed, c.reason, err, r)
		}
	}
}

// TestAWholeNumberIsTheSameInSQL: the expression accepts the same as data.ParseWhole.
func TestAWholeNumberIsTheSameInSQL(t *testing.T) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	texts := []string{"", "0", "00", "07", "7.", "7.0", "7.01", ".0", " 7", "7 ", "-0", "+0", "9223372036854775807", "9223372036854775808",
		"9223372036854775807.0", "99999999999", "100000000000", "127", "128", "1e2", "0x7", "1_0", "٣", "７"}
	r := rand.New(rand.NewPCG(1, 2))
	for range testfiles.Cases(20_000, 500_000) {
		text := make([]byte, 1+r.IntN(18))
		for i := range text {
			if text[i] = "0123456789"[r.IntN(10)]; r.IntN(20) == 0 {
				text[i] = "0. -+e_x"[r.IntN(8)]
			}
		}
		texts = append(texts, string(text))
	}
	for _, most := range []int64{127, 99999999999, math.MaxInt64} {
		rows, err := db.Query("SELECT c, "+shape.Whole("c", most)+" FROM (SELECT unnest(?::VARCHAR[]) AS c)", texts)
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for rows.Next() {
			var text string
			var got sql.NullInt64
			if err := rows.Scan(&text, &got); err != nil {
				t.Fatal(err)
			}
			want, err := data.ParseWhole(text)
			if read++; got.Valid != (err == nil && want <= most) || got.Valid && got.Int64 != want {
				t.Errorf("%q up to %d is %v in SQL, and %d, %v", text, most, got, want, err)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil || read != len(texts) {
			t.Fatal(err, read)
		}
	}
}

// TestAnExportedAmountIsTheSameInSQL: amounts of the type that exports have become the same millionths as any others.
func TestAnExportedAmountIsTheSameInSQL(t *testing.T) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	amount := func(kind string) string {
		return shape.ParquetTable(data.Source{}, data.Head{Format: data.Parquet, Columns: []string{"usd"}, Types: []string{kind}}).Amount("usd")
	}
	exported, other := amount("DECIMAL(18,6)"), amount("DECIMAL(17,6)")
	if exported == other {
		t.Fatal("both are converted in the same way")
	}
	var rows, same, sum int64
	err = db.QueryRow("SELECT count(*), count(*) FILTER (a = m AND b IS NOT DISTINCT FROM a), sum(a % 7) FROM (SELECT "+exported+" AS a, "+other+" AS b, m FROM ("+
		"SELECT m::BIGINT AS m, (m::DECIMAL(18,0) * 0.000001::DECIMAL(6,6))::DECIMAL(18,6) AS usd FROM ("+
		"SELECT unnest([0, 1, -1, 500000, 999999999999999999, -999999999999999999, 999999999999999, 1000000000000000, 999999000000, 999999000001, -999999999999, 1000000000000, 999999999999999999 - 1]) AS m "+
		"UNION ALL SELECT (hash(range) % (10 ** (1 + range % 18))::HUGEINT)::HUGEINT * CASE range % 3 WHEN 0 THEN -1 ELSE 1 END FROM range("+
		strconv.Itoa(testfiles.Cases(20_000, 500_000))+"))))").Scan(&rows, &same, &sum)
	if err != nil || rows < 20_000 || same != rows || sum == 0 {
		t.Errorf("%d of %d amounts are the same, %v", same, rows, err)
	}
}

// TestAWholeNumberOfATableIsParsed: the same holds for columns of doubles and of signed integers.
func TestAWholeNumberOfATableIsParsed(t *testing.T) {
	testfiles.InLong(t, "TestAWholeNumberIsParsed reads them from text")
	v := open(t)
	writer, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	for name, query := range map[string]string{
		"fills": "SELECT 1767000000 AS ts, '" + addressA + "' AS address, '71' AS token_id, 'BUY' AS side, 10 AS shares, 4 AS usd, '" + hashOne + "' AS transaction_hash, ",
		"jonbecker": "SELECT 1767000000 AS timestamp, 7 AS block_number, '" + hashOne + "' AS transaction_hash, '" + addressA + "' AS maker, '" + addressB +
			"' AS taker, '0' AS maker_asset_id, '71' AS taker_asset_id, 4 AS maker_amount, 10 AS taker_amount, 0 AS fee, ",
	} {
		for kind, values := range map[string]string{"DOUBLE": "(7.0), (1.4), (-1.0), (8.0)", "INTEGER": "(7), (-1), (-2), (8)", "BIGINT": "(7), (-1), (8589934592), (8)"} {
			v.empty()
			path := filepath.Join(v.at, fmt.Sprintf("%s-%s.parquet", name, kind))
			if _, err := writer.Exec("COPY (" + query + "v::" + kind + " AS log_index FROM (VALUES " + values + ") AS k(v)) TO '" + path + "' (FORMAT parquet)"); err != nil {
				t.Fatal(err)
			}
			r, err := v.bring(path, ingest.Options{})
			if err != nil || r.Read != 4 || r.Rejected["bad_log_index"] != 2 || r.Inserted != 2 {
				t.Errorf("%s %s: err = %v, r = %+v", name, kind, err, r)
			}
			_ = os.Remove(path)
		}
	}
}
