package keeper_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

// A tally is a copy: it does not have later changes.
func TestTallyCountsWhatWasDone(t *testing.T) {
	dir := t.TempDir() + "/venue"
	if _, err := sample.Write(t.Context(), sample.Config{Fills: 2_000, Days: sampleDays()}, dir, nil); err != nil {
		t.Fatal(err)
	}
	if !testfiles.Long() { // two feeds recognise it
		withoutWeather(t, dir)
	}
	k := open(t, t.TempDir())
	before := k.Tally()
	if len(before.Feeds) != 0 || before.FilesFailed != 0 || before.Works["verify"].OK != 0 {
		t.Fatalf("before = %+v", before)
	}
	var inserted int64
	for _, r := range mustImport(t, k, dir) {
		inserted += r.Inserted
	}
	res, err := k.Import(t.Context(), keeper.Request{Paths: []string{write(t, "none.csv", "a,b\n1,2\n")}}, nil)
	if err != nil || len(res.Failed) != 1 {
		t.Fatalf("res = %+v, err = %v", res, err)
	}
	after := k.Tally()
	if len(before.Feeds) != 0 {
		t.Error("an old tally changed")
	}
	var sum int64
	for name, f := range after.Feeds {
		sum += f.Inserted
		if f.Last.IsZero() || f.Rows == 0 || f.Batches == 0 || f.Rejected != 0 {
			t.Errorf("%s: f = %+v", name, f)
		}
	}
	if sum != inserted || sum == 0 {
		t.Errorf("%d fills are counted, but %d were added", sum, inserted)
	}
	if after.FilesFailed != 1 {
		t.Errorf("%d files failed", after.FilesFailed)
	}
	// Neither a dry run nor a file without a feed adds anything.
	state := ingest.Rows{Name: "how far", Within: func(context.Context, *sql.Conn) error { return nil }}
	if _, err := k.Commit(t.Context(), state, ingest.Remaining{}); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Import(t.Context(), keeper.Request{Paths: []string{dir, write(t, "none.csv", "a,b\n1,2\n")}, DryRun: true}, nil); err != nil {
		t.Fatal(err)
	}
	if again := k.Tally(); again.FilesFailed != 1 || len(again.Feeds) != len(after.Feeds) {
		t.Errorf("again = %+v", again)
	}
}

// The result of a failed verification is shown until another one succeeds, no matter who requested it.
func TestVerificationIsRecorded(t *testing.T) {
	testfiles.InLong(t, "TestVerificationFindsAWrongFile verifies, and finds what is wrong")
	dir := t.TempDir() + "/venue"
	if _, err := sample.Write(t.Context(), sample.Config{Fills: 2_000, Days: sampleDays()}, dir, nil); err != nil {
		t.Fatal(err)
	}
	withoutWeather(t, dir)
	k := open(t, t.TempDir())
	mustImport(t, k, dir)
	if err := k.Rebuild(t.Context(), nil); err != nil { // the tables have the rows themselves
		t.Fatal(err)
	}
	mustVerify(t, k)
	if f := k.Freshness(); f.LastVerified.IsZero() || f.VerifyFailure != "" {
		t.Errorf("f = %+v", f)
	}
	if w := k.Tally().Works["verify"]; w.OK != 1 || w.Failed != 0 || w.LastOK.IsZero() || w.Took <= 0 {
		t.Errorf("w = %+v", w)
	}
	err := k.DB().Write(t.Context(), func(conn *sql.Conn) error {
		_, err := conn.ExecContext(context.Background(), "UPDATE wallet_day SET fills = fills + 1")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	checks, err := k.Verify(t.Context(), nil)
	if err != nil || len(checks) == 0 {
		t.Fatal(err)
	}
	if f := k.Freshness(); !strings.Contains(f.VerifyFailure, "wallet_day") {
		t.Errorf("f = %+v", f)
	}
	if w := k.Tally().Works["verify"]; w.OK != 1 || w.Failed != 1 || w.LastFailed.IsZero() {
		t.Errorf("w = %+v", w)
	}
	if err := k.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, k)
	if f := k.Freshness(); f.VerifyFailure != "" {
		t.Errorf("f = %+v", f)
	}
	if w := k.Tally().Works; w["verify"].OK != 2 || w["rebuild"].OK == 0 || w["checkpoint"].OK == 0 {
		t.Errorf("w = %+v", w)
	}
}
