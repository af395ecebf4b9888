package engine_test

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/enginetest"
)

type legs struct {
	Maker int64 `sql:"maker"`
	Taker int8  `sql:"taker"`
}

type rowOfAll struct {
	Wallet  data.WalletID `sql:"wallet"`
	Name    string        `sql:"name"`
	At      int64         `sql:"at,null"`
	Price   *data.Micro   `sql:"price"`
	Active  *bool         `sql:"active"`
	Closed  bool          `sql:"closed"`
	Tx      data.Hash     `sql:"tx,null"`
	Members []data.Temp   `sql:"members,null"`
	legs
}

func eachRow[T any](t *testing.T, query string) (rows []T, err error) {
	t.Helper()
	db, err := engine.Open(context.Background(), enginetest.Options(t, t.TempDir(), "1GB"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Read(context.Background(), func(conn *sql.Conn) error {
		return engine.EachRow(context.Background(), conn, query, func(row *T) error {
			rows = append(rows, *row)
			return nil
		})
	})
	return rows, err
}

func TestARowIsReadByTheNamesOfItsColumns(t *testing.T) {
	price, yes := data.Micro(5), true
	want := []rowOfAll{
		{Wallet: 7, Name: "Ann", At: 3, Price: &price, Active: &yes, Closed: true, Tx: data.Hash{1, 31: 2}, Members: []data.Temp{4, -4}, legs: legs{6, 7}},
		{Wallet: 8, Name: "Bob", legs: legs{8, 9}},
	}
	got, err := eachRow[rowOfAll](t, `SELECT * FROM (
  SELECT 'Ann' AS name, 7::INTEGER AS wallet, 6::BIGINT AS maker, 7::TINYINT AS taker, 3::SMALLINT AS at, 5::BIGINT AS price,
    true AS active, true AS closed, unhex('01' || repeat('00', 30) || '02') AS tx, [4, -4] AS members
  UNION ALL
  SELECT 'Bob', 8, 8, 9, NULL, NULL, NULL, false, NULL, NULL) AS r ORDER BY wallet`)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(rowOfAll{})); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}

func eachValue[T any](t *testing.T, query string) (values []T, err error) {
	t.Helper()
	db, err := engine.Open(context.Background(), enginetest.Options(t, t.TempDir(), "1GB"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Read(context.Background(), func(conn *sql.Conn) error {
		return engine.EachValue(context.Background(), conn, query, func(v T) error {
			values = append(values, v)
			return nil
		})
	})
	return values, err
}

func TestTheValuesOfOneColumn(t *testing.T) {
	if got, err := eachValue[int32](t, "SELECT n::BIGINT FROM range(3) AS r(n) ORDER BY n"); err != nil || !slices.Equal(got, []int32{0, 1, 2}) {
		t.Errorf("%v, %v, want 0, 1, 2", got, err)
	}
	if got, err := eachValue[[]byte](t, "SELECT unhex(h) FROM (VALUES ('01'), ('0203')) AS v(h) ORDER BY h"); err != nil || cmp.Diff([][]byte{{1}, {2, 3}}, got) != "" {
		t.Errorf("%v, %v, want bytes of each row", got, err)
	}
	if got, err := eachValue[*string](t, "SELECT NULL::VARCHAR AS name"); err != nil || len(got) != 1 || got[0] != nil {
		t.Errorf("%v, %v, want nil for NULL", got, err)
	}
	for query, want := range map[string]string{
		"SELECT 1 AS n, 2 AS m":    `the columns ["n" "m"]`,
		"SELECT 'x' AS n":          `column "n": string does not fit into int32`,
		"SELECT NULL::BIGINT AS n": `column "n" is NULL`,
		"SELECT 2147483648 AS n":   `column "n"`,
	} {
		if _, err := eachValue[int32](t, query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: err = %v, want %s", query, err, want)
		}
	}
}

// A value that does not fit is an error that names the column, and never a zero.
func TestARowThatDoesNotFitIsAnError(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT 1 AS maker":                                     `there is no column "taker"`,
		"SELECT 1 AS maker, 2 AS taker, 3 AS other":             `column "other"`,
		"SELECT 1 AS maker, 2 AS taker, 3 AS maker":             `column "maker"`,
		"SELECT 1 AS maker, 2 AS taker, 3 AS other LIMIT 0":     `column "other"`,
		"SELECT NULL::BIGINT AS maker, 2 AS taker":              `column "maker" is NULL`,
		"SELECT 'x' AS maker, 2 AS taker":                       `column "maker": string does not fit into int64`,
		"SELECT 1 AS maker, 128 AS taker":                       `column "taker": int32 does not fit into int8`,
		"SELECT 1 AS maker, 2::HUGEINT AS taker":                `column "taker"`,
		"SELECT 1.5::DOUBLE AS maker, 2 AS taker":               `column "maker"`,
		"SELECT 1 AS maker, 2 AS taker FROM no_table_like_this": "no_table_like_this",
	} {
		if _, err := eachRow[legs](t, query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: err = %v, want %s", query, err, want)
		}
	}
	if _, err := eachRow[struct {
		Tx data.Hash `sql:"tx"`
	}](t, "SELECT unhex('0102') AS tx"); err == nil || !strings.Contains(err.Error(), `column "tx"`) {
		t.Errorf("a hash of two bytes: %v", err)
	}
	if _, err := eachRow[struct {
		Members []int64 `sql:"members"`
	}](t, "SELECT [1, NULL] AS members"); err == nil || !strings.Contains(err.Error(), `column "members"`) {
		t.Errorf("a list with NULL: %v", err)
	}
	if _, err := eachRow[struct{ Untagged int64 }](t, "SELECT 1 AS untagged"); err == nil || !strings.Contains(err.Error(), "Untagged") {
		t.Errorf("a field without a name: %v", err)
	}
}
