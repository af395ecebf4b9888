package engine

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestBlocksOfDuckDBAreGivenBack to the system once they are empty, and not before.
func TestBlocksOfDuckDBAreGivenBack(t *testing.T) {
	db, err := Open(context.Background(), Options{Dir: Dir(t.TempDir()), MemoryLimit: "1GB", Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	exec := func(query string) {
		t.Helper()
		if err := db.Write(context.Background(), func(conn *sql.Conn) error {
			_, err := conn.ExecContext(t.Context(), query)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	// DuckDB frees most of what a transaction dropped at its end, and the rest a moment later.
	var seen []string
	for range 12 {
		TrimBlocks()
		before := ResidentMemory()
		exec("CREATE TEMP TABLE much AS SELECT range AS n, hash(range) AS h FROM range(4_000_000)") // 64 MB
		TrimBlocks()
		full := ResidentMemory()
		exec("DROP TABLE much")
		TrimBlocks()
		after := ResidentMemory()
		if before == 0 || full-before >= 40<<20 && full-after >= 40<<20 {
			return
		}
		seen = append(seen, fmt.Sprintf("%d MB, with the table %d MB, without it %d MB", before>>20, full>>20, after>>20))
		time.Sleep(50 * time.Millisecond)
	}
	t.Error(strings.Join(seen, "\n"))
}
