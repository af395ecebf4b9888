package control_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmx/engine/control"
)

// A file that is not of SQLite is refused with a message that says what to do.
func TestADamagedFileIsReportedAsDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.db")
	if err := os.WriteFile(path, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := control.Open(t.Context(), path, time.Now)
	if err == nil {
		_ = db.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "is damaged") || strings.Contains(err.Error(), "(26)") {
		t.Errorf("err = %v", err)
	}
}
