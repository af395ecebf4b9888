package control_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"pmx/engine/control"
)

func TestACopyHasWhatWasCommitted(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db, err := control.Open(ctx, filepath.Join(dir, "control.db"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.IssueKey(ctx, [32]byte{1}, "trader", "first"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "it's a copy.db")
	if err := db.CopyTo(ctx, path); err != nil {
		t.Fatal(err)
	}
	if err := db.CopyTo(ctx, path); err == nil {
		t.Error("a copy took the place of a file that was there")
	}
	if _, err := db.IssueKey(ctx, [32]byte{2}, "trader", "second"); err != nil {
		t.Fatal(err)
	}
	copied, err := control.Open(ctx, path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = copied.Close() }()
	if all, err := copied.ListKeys(ctx); err != nil || len(all) != 1 || all[0].Label != "first" {
		t.Errorf("all = %+v, err = %v", all, err)
	}
	if err := copied.Check(ctx); err != nil {
		t.Error(err)
	}
}
