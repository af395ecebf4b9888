package keeper_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/rs/zerolog"

	"pmx/data/feeds"
	"pmx/engine/enginetest"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

// A caller that leaves just after the commit of a file gets its receipt, and the files after it are
// not imported.
func TestACommittedFileHasItsReceipt(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	armed := false
	k, err := keeper.Open(ctx, keeper.Config{
		Engine: enginetest.Options(t, t.TempDir(), "1GB"),
		Feeds:  feeds.Catalog{},
		Log:    zerolog.Nop(),
		Serve:  true,
	})
	if err != nil {
		t.Fatal(err)
	}
	k.OnPublish(func(*serving.Snapshot) { // the batch is committed
		if armed {
			leave()
		}
	})
	defer func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}()
	const head = "ts,wallet,token,side,shares,usd\n"
	row := func(day int) string {
		return fmt.Sprintf("2026-01-%02dT03:04:05Z,0x1111111111111111111111111111111111111111,7,BUY,10,4\n", day)
	}
	first, second := write(t, "a.csv", head+row(2)), write(t, "b.csv", head+row(3))
	armed = true
	told := keeper.NewResult()
	res, err := k.Import(ctx, keeper.Request{Paths: []string{first, second}}, told.Add)
	armed = false
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the import of two files returned %v", err)
	}
	if len(res.Receipts) != 1 || res.Receipts[0].Inserted != 1 || len(told.Receipts) != 1 || len(told.Failed) > 0 {
		t.Errorf("got %+v, told %+v", res, told)
	}
	if n := count(t, k, "SELECT count(*) FROM fills"); n != 1 {
		t.Errorf("%d fills are imported", n)
	}
	if again := mustImport(t, k, first, second); again[0].AlreadyThere != 1 || again[1].Inserted != 1 {
		t.Errorf("again: %+v", again)
	}
}

// A caller that waits for the import of another may leave.
func TestWaitingCallersMayCancel(t *testing.T) {
	k := open(t, t.TempDir())
	file := write(t, "a.csv", "ts,wallet,token,side,shares,usd\n2026-01-02T03:04:05Z,0x1111111111111111111111111111111111111111,7,BUY,10,4\n")
	var waited error
	_, err := k.Import(t.Context(), keeper.Request{Paths: []string{file}}, func(e keeper.Event) {
		if e.Receipt == nil {
			return
		}
		ctx, leave := context.WithCancel(t.Context())
		leave()
		_, waited = k.Import(ctx, keeper.Request{Paths: []string{file}}, nil)
	})
	if err != nil || !errors.Is(waited, context.Canceled) {
		t.Errorf("the running import returned %v, the waiting one %v", err, waited)
	}
}
