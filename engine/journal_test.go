package engine

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"pmx/data/testfiles"
)

// killed is a database whose process was killed, with a log, and the same one after a checkpoint of
// it that wrote all but its header.
type killed struct {
	before, within []byte // the database file
	log, journal   []byte
	rows           string // what was committed
	logWithin      []byte
	h              header
	inPlace        []metadataBlock // blocks that the checkpoint wrote, and that the one before uses
}

const contents = `SELECT string_agg(s, ' ' ORDER BY s) FROM (SELECT 'a ' || count(*) || ' ' || sum(i) || ' ' || sum(length(s)) AS s FROM a
	UNION ALL SELECT 'b ' || count(*) || ' ' || sum(i) || ' ' || sum(length(s)) FROM b UNION ALL SELECT 'c ' || count(*) || ' ' || sum(i) FROM c)`

// olderVersion is the storage version of databases that earlier versions made.
const olderVersion = "v1.0.0"

var theKilled = map[string]*killed{} // by storage version

// killedInACheckpoint makes one, once for all tests. DuckDB's own setting stops the checkpoint.
func killedInACheckpoint(t *testing.T, version string) *killed {
	t.Helper()
	k := theKilled[version]
	if k == nil {
		k = &killed{}
		k.make(t, version)
		theKilled[version] = k
	}
	if len(k.inPlace) == 0 {
		t.Fatal("the checkpoint wrote no block of metadata in place: there is nothing to protect")
	}
	return k
}

// emptyDatabase makes the database file of a storage version.
func emptyDatabase(t *testing.T, dir Dir, version string) {
	t.Helper()
	db, err := sql.Open("duckdb", fmt.Sprintf("%s?storage_compatibility_version=%s&default_block_size=%d", dir.Database(), version, blockSize))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.PingContext(t.Context()), db.Close()); err != nil {
		t.Fatal(err)
	}
}

func (k *killed) make(t *testing.T, version string) {
	t.Helper()
	ctx, dir := t.Context(), Dir(t.TempDir())
	emptyDatabase(t, dir, version)
	db, err := Open(ctx, Options{Dir: dir, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	do := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			if err := db.Write(ctx, func(conn *sql.Conn) error { _, err := conn.ExecContext(ctx, text); return err }); err != nil {
				t.Fatal(text, err)
			}
		}
	}
	do("CREATE TABLE a (i BIGINT, s VARCHAR)", "CREATE TABLE b (i BIGINT, s VARCHAR)", "CREATE TABLE c (i BIGINT)")
	for round := range 4 {
		do(fmt.Sprintf("INSERT INTO a SELECT range, 'row ' || range FROM range(%d, %d)", round*200_000, (round+1)*200_000),
			fmt.Sprintf("INSERT INTO b SELECT range, 'other ' || range FROM range(%d)", 1000*(round+1)), "CHECKPOINT")
	}
	do("INSERT INTO a SELECT range, 'late ' || range FROM range(5000)", "INSERT INTO c SELECT range FROM range(3000)", "DELETE FROM b WHERE i < 10")
	k.before, k.log, k.journal = contentsOf(t, dir.Database()), contentsOf(t, dir.wal()), contentsOf(t, dir.journal())
	k.rows = rowsOf(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	within := Dir(t.TempDir())
	k.lay(t, within, k.before)
	raw, err := sql.Open("duckdb", within.Database())
	if err != nil {
		t.Fatal(err)
	}
	raw.SetMaxOpenConns(1)
	if _, err := raw.ExecContext(ctx, "SET debug_checkpoint_abort = 'after_free_list_write'"); err != nil {
		t.Fatal(err)
	}
	if _, err := raw.ExecContext(ctx, "CHECKPOINT"); err == nil {
		t.Fatal("the checkpoint was not stopped")
	}
	_ = raw.Close()
	k.within, k.logWithin = contentsOf(t, within.Database()), contentsOf(t, within.wal())
	if k.h, err = parseHead(k.before); err != nil {
		t.Fatal(err)
	}
	blocks, err := k.h.metadataBlocks(bytes.NewReader(k.before))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if ^b.free != 0 && !bytes.Equal(k.block(k.before, b), k.block(k.within, b)) {
			k.inPlace = append(k.inPlace, b)
		}
	}
}

func (k *killed) block(file []byte, b metadataBlock) []byte {
	return file[k.h.offset(b.id):][:k.h.blockSize]
}

// lay writes the files of a killed process.
func (k *killed) lay(t *testing.T, dir Dir, database []byte) {
	t.Helper()
	log := k.log
	if k.logWithin != nil {
		log = k.logWithin
	}
	for path, b := range map[string][]byte{dir.Database(): database, dir.wal(): log, dir.journal(): k.journal} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func contentsOf(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func rowsOf(t *testing.T, db *DB) (rows string) {
	t.Helper()
	if err := db.Read(t.Context(), func(conn *sql.Conn) error {
		return conn.QueryRowContext(t.Context(), contents).Scan(&rows)
	}); err != nil {
		t.Fatal(err)
	}
	return rows
}

// torn is the file of the killed checkpoint with a block of which only the first bytes were written.
func (k *killed) torn(b metadataBlock, written int64) []byte {
	file := slices.Clone(k.within)
	copy(k.block(file, b)[written:], k.block(k.before, b)[written:])
	return file
}

// lastChange is where the last byte is that the killed checkpoint changed in a block: a write that ends before it tears it.
func (k *killed) lastChange(b metadataBlock) int64 {
	before, within := k.block(k.before, b), k.block(k.within, b)
	at := k.h.blockSize - 1
	for before[at] == within[at] {
		at--
	}
	return at
}

// Wherever the write of a block of metadata is interrupted, the next start has all that was
// committed, and the start after it has nothing to restore.
func TestABlockThatACheckpointTearsIsRestored(t *testing.T) {
	for _, version := range []string{storageVersion, olderVersion} {
		t.Run(version, func(t *testing.T) {
			tearBlocks(t, killedInACheckpoint(t, version), testfiles.Long() && version == storageVersion)
		})
	}
}

// tearBlocks tries one cut of each block, or all of them.
func tearBlocks(t *testing.T, k *killed, all bool) {
	t.Helper()
	for _, b := range k.inPlace {
		tears := 0
		for _, written := range []int64{4 << 10, 32 << 10, k.h.blockSize / 2, k.h.blockSize - 4<<10, k.lastChange(b)} {
			file := k.torn(b, written)
			if intact(k.block(file, b)) || tears == 1 && !all {
				continue // nothing changed after it
			}
			tears++
			dir := Dir(t.TempDir())
			k.lay(t, dir, file)
			starts := 1
			if b == k.inPlace[0] {
				starts = 2
			}
			for start := range starts {
				db, err := Open(t.Context(), Options{Dir: dir, Threads: 1})
				if err != nil {
					t.Fatalf("block %d, %d bytes: %v", b.id, written, err)
				}
				if got, restored := rowsOf(t, db), db.Restored(); got != k.rows || restored != 1-start {
					t.Errorf("block %d, %d bytes, start %d: %s and %d restored, want %s", b.id, written, start, got, restored, k.rows)
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		if tears == 0 {
			t.Errorf("no cut tears block %d", b.id)
		}
	}
}

// Without the journal a torn block is lost: it is the journal that saves it.
func TestATornBlockIsLostWithoutTheJournal(t *testing.T) {
	k := killedInACheckpoint(t, storageVersion)
	lost := 0
	for _, b := range k.inPlace {
		dir := Dir(t.TempDir())
		k.lay(t, dir, k.torn(b, 4<<10))
		if err := os.Remove(dir.journal()); err != nil {
			t.Fatal(err)
		}
		db, err := Open(t.Context(), Options{Dir: dir, Threads: 1})
		if err != nil {
			lost++
			continue
		}
		_ = db.Close()
	}
	if lost == 0 {
		t.Error("every file with a torn block opened")
	}
}

// A header that was half written is restored too.
func TestATornHeaderIsRestored(t *testing.T) {
	k := killedInACheckpoint(t, storageVersion)
	other := header{slot: 3 - k.h.slot}
	file := slices.Clone(k.within)
	other.bytes(file)[100] ^= 1
	dir := Dir(t.TempDir())
	k.lay(t, dir, file)
	db, err := Open(t.Context(), Options{Dir: dir, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, restored := rowsOf(t, db), db.Restored(); got != k.rows || restored != 1 {
		t.Errorf("%s and %d restored, want %s", got, restored, k.rows)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// A journal that is missing, torn, of another checkpoint or of another file changes nothing.
func TestAJournalOfSomethingElseIsNotUsed(t *testing.T) {
	k := killedInACheckpoint(t, storageVersion)
	b := k.inPlace[0]
	torn := k.torn(b, 4<<10)
	flipped := func(at int) []byte {
		j := slices.Clone(k.journal)
		j[at] ^= 1
		return j
	}
	resummed := func(change func(body []byte)) []byte {
		j := slices.Clone(k.journal)
		change(j[journalPrefix:])
		sum := &journalWriter{to: discard{}}
		sum.write(j[journalPrefix:])
		copy(j[len(journalText):], le(uint64(sum.sum)))
		return j
	}
	used := func() (at int64) { // a byte of a part that the last checkpoint uses, in a block that is not torn
		blocks, err := k.h.metadataBlocks(bytes.NewReader(k.before))
		if err != nil {
			t.Fatal(err)
		}
		for i, other := range blocks {
			for p := range metadataParts {
				if other.id != b.id && other.free>>p&1 == 0 {
					return FileHead + 8 + int64(len(blocks))*16 + int64(i)*k.h.blockSize + k.h.part(p) + 9
				}
			}
		}
		return -1
	}()
	cases := map[string][]byte{
		"empty": {}, "short": k.journal[:100], "cut": k.journal[:len(k.journal)-1], "longer": append(slices.Clone(k.journal), 0),
		"text": flipped(0), "sum": flipped(len(journalText)), "body": flipped(len(k.journal) - 1),
		"another file":       resummed(func(body []byte) { body[headerSize-1] ^= 1 }),
		"another checkpoint": resummed(func(body []byte) { h := k.h.bytes(body); h[checksumSize] ^= 1; copy(h, le(checksum(h[checksumSize:]))) }),
		"a torn copy":        resummed(func(body []byte) { copy(body[len(body)-len(k.copies()):], make([]byte, len(k.copies()))) }),
		"many blocks":        resummed(func(body []byte) { copy(body[FileHead:], le(1<<60)) }),
	}
	if used >= 0 {
		cases["another history"] = resummed(func(body []byte) { body[used] ^= 1 })
	}
	for name, journal := range cases {
		dir := Dir(t.TempDir())
		k.lay(t, dir, torn)
		if err := os.WriteFile(dir.journal(), journal, 0o600); err != nil {
			t.Fatal(err)
		}
		j := newJournal(dir, &databaseFile{path: dir.Database()})
		if err := j.restore(); err != nil || j.restored != 0 || !bytes.Equal(contentsOf(t, dir.Database()), torn) {
			t.Errorf("%s: err = %v, %d restored, or the file was changed", name, err, j.restored)
		}
	}
	dir := Dir(t.TempDir())
	k.lay(t, dir, torn)
	j := newJournal(dir, &databaseFile{path: dir.Database()})
	if err := j.restore(); err != nil || j.restored != 1 {
		t.Errorf("the right journal: err = %v, %d restored, want 1", err, j.restored)
	}
}

// A file that is shorter than its blocks was not cut by a checkpoint, and is not made longer.
func TestAFileThatWasCutIsNotRestored(t *testing.T) {
	k := killedInACheckpoint(t, storageVersion)
	b := k.inPlace[0]
	cut := k.torn(b, 4<<10)[:k.h.offset(b.id)+k.h.blockSize/2]
	dir := Dir(t.TempDir())
	k.lay(t, dir, cut)
	j := newJournal(dir, &databaseFile{path: dir.Database()})
	if err := j.restore(); err != nil || j.restored != 0 || !bytes.Equal(contentsOf(t, dir.Database()), cut) {
		t.Errorf("err = %v, %d restored, or the file was changed", err, j.restored)
	}
}

// Torn counts what a start restores, and changes nothing.
func TestTornBlocksAreCounted(t *testing.T) {
	k := killedInACheckpoint(t, storageVersion)
	dir := Dir(t.TempDir())
	if n, err := dir.Torn(); n != 0 || err != nil {
		t.Errorf("without a database: %d torn, %v", n, err)
	}
	for want, file := range [][]byte{k.before, k.torn(k.inPlace[0], 4<<10)} {
		k.lay(t, dir, file)
		if n, err := dir.Torn(); n != want || err != nil || !bytes.Equal(contentsOf(t, dir.Database()), file) {
			t.Errorf("%d torn, want %d: %v, or the file was changed", n, want, err)
		}
	}
}

// A start that is stopped while the database is being opened makes no checkpoint, because nothing was copied for it.
func TestAnOpeningThatIsStoppedMakesNoCheckpoint(t *testing.T) {
	k := killedInACheckpoint(t, storageVersion)
	dir := Dir(t.TempDir())
	k.lay(t, dir, k.before)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if db, err := Open(ctx, Options{Dir: dir, Threads: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("db = %v, err = %v", db, err)
	}
	if !bytes.Equal(contentsOf(t, dir.Database()), k.before) {
		t.Error("the file was changed")
	}
}

// While another process has the database, which may be writing the checkpoint, nothing is restored.
func TestNothingIsRestoredWhileAnotherProcessHasTheDatabase(t *testing.T) {
	k := killedInACheckpoint(t, storageVersion)
	torn := k.torn(k.inPlace[0], 4<<10)
	dir := Dir(t.TempDir())
	k.lay(t, dir, torn)
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), "PMX_TEST_LOCK="+dir.Database())
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), Options{Dir: dir, Threads: 1})
	if !errors.Is(err, ErrLocked) || !bytes.Equal(contentsOf(t, dir.Database()), torn) {
		t.Errorf("err = %v, or the file was changed", err)
	}
	if err := errors.Join(in.Close(), holder.Wait()); err != nil {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), Options{Dir: dir, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, restored := rowsOf(t, db), db.Restored(); got != k.rows || restored != 1 {
		t.Errorf("then %s and %d restored, want %s", got, restored, k.rows)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// copies are the blocks in the journal.
func (k *killed) copies() []byte {
	kept := k.journal[journalPrefix:]
	n := int(kept[FileHead])
	return kept[FileHead+8+16*n:]
}

func le(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

type discard struct{}

func (discard) WriteAt(b []byte, _ int64) (int, error) { return len(b), nil }

// The journal is written before each checkpoint of whatever statement, with the blocks as they are.
func TestTheJournalIsOfTheLastCheckpoint(t *testing.T) {
	ctx, dir := t.Context(), Dir(t.TempDir())
	db, err := Open(ctx, Options{Dir: dir, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Write(ctx, func(conn *sql.Conn) error {
		for i, text := range []string{"CREATE TABLE t AS SELECT range AS i FROM range(100000)", "CHECKPOINT", "INSERT INTO t VALUES (1)", "CHECKPOINT", "SELECT 1"} {
			if _, err := conn.ExecContext(ctx, text); err != nil {
				return err
			}
			kept, err := readJournal(dir.journal())
			if err != nil || kept == nil {
				return fmt.Errorf("after statement %d: no journal: %w", i, err)
			}
			now, err := parseHead(contentsOf(t, dir.Database()))
			if err != nil {
				return err
			}
			want := now.iteration // as before the statement
			if text == "CHECKPOINT" {
				want--
			}
			if kept.of.iteration != want {
				t.Errorf("after %q the journal is of checkpoint %d, and the file is at %d", text, kept.of.iteration, now.iteration)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(string(dir), "pmx.duckdb.journal")); err != nil {
		t.Error(err)
	}
}
