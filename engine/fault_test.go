package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"pmx/engine"
)

func TestAFaultReopensOnceAndASecondIsReported(t *testing.T) {
	ctx := context.Background()
	var outcomes []bool
	db, err := engine.Open(ctx, engine.Options{
		Dir: engine.Dir(t.TempDir()), Threads: 1,
		OnFault: func(_ error, recovered bool) { outcomes = append(outcomes, recovered) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := write(ctx, db, "INSERT INTO wallets VALUES (0, '\\x01'::BLOB)"); err != nil {
		t.Fatal(err)
	}
	fatal := &duckdb.Error{Type: duckdb.ErrorTypeFatal, Msg: "FATAL Error: made up"}
	fail := func(*sql.Conn) error { return fatal }
	if err := db.Read(ctx, fail); !errors.Is(err, fatal) {
		t.Fatalf("the failed call gives %v, want its own error", err)
	}
	count := 0
	err = db.Read(ctx, func(conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, "SELECT count(*) FROM wallets").Scan(&count)
	})
	if err != nil || count != 1 {
		t.Fatalf("after the fault: %d rows, %v; want the committed row", count, err)
	}
	_ = db.Write(ctx, fail)
	if len(outcomes) != 2 || !outcomes[0] || outcomes[1] {
		t.Errorf("recovered = %v, want [true false]", outcomes)
	}
}
