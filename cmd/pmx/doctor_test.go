package main

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pmx/engine"
	"pmx/engine/control"
	"pmx/engine/guard"
	"pmx/rollups/keeper"
	"pmx/rollups/replica"
	"pmx/rollups/serving"
)

// A damaged file of keys is detected before the damaged part, which SQLite may not read at first,
// is needed.
func TestDoctorReadsTheWholeFileOfKeys(t *testing.T) {
	dir := engine.Dir(t.TempDir())
	if found := checkKeyFile(t.Context(), dir); found != nil {
		t.Errorf("without a file: %+v", found)
	}
	db, err := control.Open(t.Context(), dir.Control(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.IssueKey(t.Context(), [32]byte{1}, "free", "ann"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if found := checkKeyFile(t.Context(), dir); len(found) != 1 || found[0].Level != fine {
		t.Errorf("of a good file: %+v", found)
	}
	text, err := os.ReadFile(dir.Control())
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(text, append([]byte{1}, make([]byte, 31)...)) // the hash, in its table or in its index
	text[at+5] ^= 1
	if err := os.WriteFile(dir.Control(), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if found := checkKeyFile(t.Context(), dir); len(found) != 1 || found[0].Level != fails || found[0].Do == "" {
		t.Errorf("of a damaged file: %+v", found)
	}
}

// The findings that follow from the status of a server.
func TestDoctorReportsTheStatusOfAServer(t *testing.T) {
	now := time.Date(2026, 11, 7, 12, 0, 0, 0, time.UTC)
	healthy := serverStatus{Version: version, Started: now.Add(-time.Hour), AsOf: now.Add(-time.Minute), OpenFiles: 65536}
	if all := checkServer(&healthy, now); len(troubles(all)) != 0 || !slices.ContainsFunc(all, func(f finding) bool { return f.Check == "server" && f.Level == fine }) {
		t.Fatalf("all = %+v", all)
	}
	for _, tc := range []struct {
		spoil func(*serverStatus)
		check string
		level severity
		text  string
	}{
		{func(s *serverStatus) { s.Version = "older" }, "version", warns, "older"},
		{func(s *serverStatus) { s.OpenFiles = 256 }, "open files", warns, "256"},
		{func(s *serverStatus) { s.Fresh.FailureText = "no room" }, "refresh", fails, "no room"},
		{func(s *serverStatus) { s.Fresh.VerifyFailure = "rebuilt_position" }, "verify", fails, "rebuilt_position"},
		{func(s *serverStatus) { s.Fresh.Scheduled.Failing, s.Fresh.Scheduled.Problem = true, "no such folder" }, "backup", fails, "no such folder"},
		{func(s *serverStatus) { s.Fresh.Asked.Failing = true }, "backup", warns, "pmx backup failed"},
		{func(s *serverStatus) { s.Fresh.BackupDue = now.Add(-2 * time.Hour) }, "backup", fails, "was due 2026-11-07T10:00:00Z"},
		{func(s *serverStatus) { s.Fresh.DiskFull = true }, "disk", fails, "nothing new"},
		{func(s *serverStatus) { s.CheckpointOwed = now.Add(-20 * time.Minute) }, "checkpoint", warns, "since 2026-11-07T11:40:00Z, 20 min ago"},
		{func(s *serverStatus) { s.CheckpointOwed, s.Fresh.DiskFull = now.Add(-20*time.Minute), true }, "disk", fails, "nothing new"},
		{func(s *serverStatus) { s.Fresh.Stale = true }, "rollups", warns, "not served yet"},
		{func(s *serverStatus) { s.Started = now.Add(-80 * time.Hour) }, "verify", warns, "80 h"},
		{func(s *serverStatus) { s.AsOf = now.Add(time.Hour) }, "clock", fails, "ahead of the clock"},
		{func(s *serverStatus) { s.AsOf = now.Add(-3 * time.Hour) }, "data", fails, "3 h ago"},
		{func(s *serverStatus) { s.AsOf = time.Time{} }, "data", warns, "no fills"},
		{func(s *serverStatus) { s.Sources = []serving.Source{{Name: "chain", Problem: "nobody answers"}} }, "source chain", warns, "nobody answers"},
		{func(s *serverStatus) {
			s.Background = []guard.WorkStatus{{Name: "exports", Failing: true, Text: "nil map"}}
		}, "background", fails, "nil map"},
		{func(s *serverStatus) { s.Tally = keeper.Tally{Reopened: 2} }, "faults", warns, "2 times"},
		{func(s *serverStatus) { s.Memory = memoryStatus{LiveHeap: 3e9, Needed: 46e8} }, "memory", warns, "3.0 GB are live"},
		{func(s *serverStatus) { s.Memory = memoryStatus{LiveHeap: 3e9, Needed: 46e8, GoFixed: true} }, "memory", warns, "3.0 GB are live"},
		{func(s *serverStatus) { s.Waiting = now.Add(-time.Hour) }, "exports", warns, "60 min"},
	} {
		s := healthy
		tc.spoil(&s)
		found := troubles(checkServer(&s, now))
		if len(found) != 1 || found[0].Check != tc.check || found[0].Level != tc.level || !strings.Contains(found[0].Detail, tc.text) || found[0].Do == "" {
			t.Errorf("%s %s: found = %+v", tc.check, tc.text, found)
		}
	}
	owing := healthy
	owing.CheckpointOwed = now.Add(-5 * time.Minute)
	if found := troubles(checkServer(&owing, now)); len(found) != 0 {
		t.Errorf("with a checkpoint that is put off for a while: %+v", found)
	}
	cramped := healthy
	cramped.Memory = memoryStatus{Needed: 4_600_000_000}
	if found := troubles(checkServer(&cramped, now)); len(found) != 1 || found[0].Do != "start it with --memory 4.6GB or more" {
		t.Errorf("with too little memory: %+v", found)
	}
	cramped.Memory.GoFixed = true
	if found := troubles(checkServer(&cramped, now)); len(found) != 1 || !strings.HasPrefix(found[0].Do, "raise GOMEMLIMIT") {
		t.Errorf("with GOMEMLIMIT: %+v", found)
	}
	old := healthy
	old.AsOf, old.Historical = now.AddDate(-1, 0, 0), true
	if found := troubles(checkServer(&old, now)); len(found) != 0 {
		t.Errorf("a historical venue: %+v", found)
	}
	copied := healthy
	copied.Replica = &replica.Status{Takes: 1, Writer: "vm:/srv/pmx"}
	for _, at := range []time.Time{{}, now.AddDate(0, 0, -1)} {
		copied.AsOf = at
		if found := troubles(checkServer(&copied, now)); len(found) != 1 || !strings.Contains(found[0].Do, "at the writer, vm:/srv/pmx") {
			t.Errorf("a replica with the newest fill of %v: %+v", at, found)
		}
	}
	copied.AsOf, copied.Replica.Problem = now, "block 7 is damaged"
	copied.Sources = []serving.Source{{Name: replica.Source, Problem: copied.Replica.Problem}}
	if found := troubles(checkServer(&copied, now)); len(found) != 1 || !strings.Contains(found[0].Do, "docs/replicas.md") {
		t.Errorf("a replica that is behind: %+v", found)
	}
	if checkServer(nil, now) != nil {
		t.Error("there are findings for a server that does not answer")
	}
}

// A database whose process was killed in a checkpoint does not open for reading only, and is mended by the next start.
func TestDoctorKnowsWhatAStartRestores(t *testing.T) {
	ctx, open, killed := t.Context(), engine.Dir(t.TempDir()), engine.Dir(t.TempDir())
	db, err := engine.Open(ctx, engine.Options{Dir: open, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := errors.Join(db.Checkpoint(ctx),
		db.Write(ctx, func(conn *sql.Conn) error { _, err := conn.ExecContext(ctx, "SELECT 1"); return err })); err != nil {
		t.Fatal(err)
	}
	journal, err := os.ReadFile(open.Database() + ".journal")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(open.Database())
	if err != nil {
		t.Fatal(err)
	}
	id := binary.LittleEndian.Uint64(journal[16+engine.FileHead+8:]) // of the first block of metadata
	file[engine.FileHead+int(id+1)*(128<<10)-1] ^= 1
	if err := errors.Join(os.WriteFile(killed.Database(), file, 0o600), os.WriteFile(killed.Database()+".journal", journal, 0o600)); err != nil {
		t.Fatal(err)
	}
	if f := checkDatabase(ctx, killed); f.Level != warns || !strings.Contains(f.Detail, "half written") || f.Do == "" {
		t.Errorf("%+v", f)
	}
	if err := os.Remove(killed.Database() + ".journal"); err != nil {
		t.Fatal(err)
	}
	if f := checkDatabase(ctx, killed); f.Level != fails {
		t.Errorf("without the journal: %+v", f)
	}
}

// A stopped replica is to be started as one, and nothing is to be imported into it.
func TestAStoppedReplicaIsStartedAsOne(t *testing.T) {
	keepUmask(t)
	dir := stoppedReplica(t)
	for _, command := range []string{"status", "doctor"} {
		var out, errs bytes.Buffer
		status := run([]string{command, "--data-dir", dir}, stdio{in: strings.NewReader(""), out: &out, err: &errs})
		text := out.String()
		if status != 0 || !strings.Contains(text, "no server is running on this data directory of a replica\n") || !strings.Contains(text, "→ start it with pmx serve --follow /srv/states\n") || strings.Contains(text, "import") {
			t.Errorf("pmx %s: status = %d, text = %s, errs = %s", command, status, text, errs.String())
		}
	}
}
