package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/control"
	"pmx/http/admin"
	"pmx/rollups/replica"
)

// severity is how bad a finding is.
type severity string

const (
	fine  severity = "ok"
	warns severity = "warning" // needs attention, or could not be checked
	fails severity = "error"   // something is wrong
)

// finding is what one check found.
type finding struct {
	Check  string   `json:"check"`
	Level  severity `json:"level"`
	Detail string   `json:"detail"`
	Do     string   `json:"do,omitempty"` // what to do; empty if ok
}

// troubles returns the findings that are not ok.
func troubles(all []finding) []finding {
	var out []finding
	for _, f := range all {
		if f.Level != fine {
			out = append(out, f)
		}
	}
	return out
}

// printFindings writes one line per finding, followed by what to do if it is not ok.
func printFindings(w io.Writer, all []finding) error {
	for _, f := range all {
		text := fmt.Sprintf("%-8s %s: %s\n", f.Level, f.Check, visible(f.Detail, ""))
		if f.Do != "" {
			text += "         → " + f.Do + "\n"
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// Limits for a healthy installation.
const (
	leastFiles      = 4096                // open files
	certificateLeft = 14 * 24 * time.Hour // time until a certificate expires
	staleAfter      = time.Hour           // age of the newest fill
	clockAhead      = time.Minute         // how far stored times may be ahead of the clock
	verifyEvery     = 3 * 24 * time.Hour
	backupLate      = time.Hour
	checkpointLate  = 15 * time.Minute
)

// DoctorCmd reports what is wrong.
type DoctorCmd struct {
	Serve ServeCmd `embed:""`
	JSON  bool     `name:"json" help:"Print the result as one JSON object."`
}

// Help is the longer help.
func (DoctorCmd) Help() string {
	return `Checks the data directory and its permissions, which process has the database open, the disk, the limit of open files, the clock, the
settings, the certificate, the file of keys, the version of the database, and the status of a running server: old data, refreshes and
verifications that fail, too little memory, faults. Says what to do about each problem. Changes nothing. Takes the flags of pmx serve, and reads the
environment and the config file as it would.

The exit status is 1 if something is wrong, and 0 if there are only warnings.

  pmx doctor
  pmx doctor --config /etc/pmx/pmx.json --data-dir /var/lib/pmx`
}

// doctorReport is the result as JSON.
type doctorReport struct {
	OK       bool      `json:"ok"`
	Findings []finding `json:"findings"`
}

// Run checks everything.
func (c *DoctorCmd) Run(ctx context.Context, kctx *kong.Context, cli *CLI, std stdio) error {
	dir, err := cli.dir()
	if err != nil {
		return err
	}
	now := time.Now()
	all := c.checkSettings(ctx, kctx, cli)
	all = append(all, checkCertificate(c.Serve.TLSCert, c.Serve.TLSKey, now)...)
	all = append(all, checkClock())
	inside, err := checkData(ctx, dir, now)
	if err != nil {
		return err
	}
	all = append(all, inside...)
	report := doctorReport{OK: true, Findings: all}
	for _, f := range all {
		report.OK = report.OK && f.Level != fails
	}
	if c.JSON {
		err = printJSON(std.out, report)
	} else {
		err = printFindings(std.out, all)
	}
	if err == nil && !report.OK {
		err = errSilent
	}
	return err
}

// checkData checks the data directory and what is in it. What this user may not read is not judged.
func checkData(ctx context.Context, dir engine.Dir, now time.Time) ([]finding, error) {
	if err := dir.CheckAccess(); err != nil {
		return []finding{{"data directory", fails, err.Error(), "run pmx doctor as that user; what is in the directory was not checked"}}, nil
	}
	all := checkDirectory(dir)
	if !dir.Exists() {
		return all, nil
	}
	all = append(all, checkDisk(dir)...)
	all = append(all, checkInbox(dir)...)
	all = append(all, checkKeyFile(ctx, dir)...)
	running, err := checkRunning(ctx, dir, now)
	return append(all, running...), err
}

// checkReadable returns a finding if a file exists and this user may not read it: then nothing can
// be said about its contents.
func checkReadable(check, path string) []finding {
	f, err := data.OpenRegular(path)
	if err == nil {
		_ = f.Close()
	}
	if !errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return []finding{{check, fails, err.Error() + ": it was not checked", "give it to the user that runs pmx with chown, such as after a command was run as root"}}
}

// checkSettings reports the settings that pmx serve would refuse.
func (c *DoctorCmd) checkSettings(ctx context.Context, kctx *kong.Context, cli *CLI) []finding {
	var all []finding
	for _, err := range append(cli.checkEngine(ctx), c.Serve.check(cli)...) {
		all = append(all, finding{"settings", fails, err.Error(), "correct it; pmx config check shows where each setting comes from"})
	}
	for _, name := range unknownVariables(kctx.Model) {
		all = append(all, finding{"settings", warns, name + " is set in the environment, but no flag has that name", "correct its name, or unset it"})
	}
	if len(all) == 0 {
		all = append(all, finding{"settings", fine, "pmx serve would accept them", ""})
	}
	return all
}

// checkCertificate checks the certificate of --tls-cert, if it is set.
func checkCertificate(certFile, keyFile string, now time.Time) []finding {
	if certFile == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return []finding{{"certificate", fails, err.Error(), "give --tls-cert and --tls-key a certificate with its chain and its key, readable by the user that runs pmx"}}
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return []finding{{"certificate", fails, certFile + ": " + err.Error(), "issue the certificate again"}}
	}
	text := fmt.Sprintf("%s is valid from %s until %s", certFile, leaf.NotBefore.UTC().Format(time.RFC3339), leaf.NotAfter.UTC().Format(time.RFC3339))
	switch {
	case now.After(leaf.NotAfter), now.Before(leaf.NotBefore):
		return []finding{{"certificate", fails, text, "renew it, and check the clock; a running server loads the new files without a restart"}}
	case leaf.NotAfter.Sub(now) < certificateLeft:
		return []finding{{"certificate", warns, text, "the renewal does not work: renew it"}}
	}
	return []finding{{"certificate", fine, text, ""}}
}

// checkDirectory checks the data directory, its owner and its permissions.
func checkDirectory(dir engine.Dir) []finding {
	info, err := os.Stat(string(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []finding{{"data directory", warns, string(dir) + " does not exist", "check --data-dir; pmx serve and pmx import create it"}}
	case err != nil:
		return []finding{{"data directory", fails, err.Error(), "run pmx doctor as the user that runs pmx"}}
	case !info.IsDir():
		return []finding{{"data directory", fails, string(dir) + " is not a folder", "check --data-dir"}}
	}
	all := checkOwner(dir, info)
	for _, path := range []string{string(dir), dir.Database(), dir.Control()} {
		if i, err := os.Stat(path); err == nil && i.Mode().Perm()&0o077 != 0 {
			all = append(all, finding{"permissions", fails, fmt.Sprintf("%s has the mode %#o: others than its owner have rights to it", path, i.Mode().Perm()),
				"chmod go= " + path + "; the next start also does it"})
		}
	}
	if names := dir.DamagedLogs(); len(names) > 0 {
		all = append(all, finding{"log", fails, "a damaged log was found at a start: " + strings.Join(names, ", "),
			"import the files of the hours before it again, then remove the copy; see Faults in docs/operate.md"})
	}
	if len(all) == 0 {
		all = append(all, finding{"data directory", fine, string(dir) + " belongs to this user alone", ""})
	}
	return all
}

// checkDisk checks the free space on the disk of the data directory.
func checkDisk(dir engine.Dir) []finding {
	free, size, ok := dir.DiskSpace()
	if !ok {
		return []finding{{"disk", warns, "the system does not report the free space", "check the disk of " + string(dir) + " yourself"}}
	}
	text := fmt.Sprintf("%s of %s are free", bytesOf(free), bytesOf(size))
	if err := dir.CheckSpace(); err != nil {
		return []finding{{"disk", fails, err.Error(), "free some space; work continues automatically"}}
	}
	if free < size/10 {
		return []finding{{"disk", warns, text, "free some space, or use a larger disk; pmx status shows what uses it"}}
	}
	return []finding{{"disk", fine, text, ""}}
}

// checkInbox looks for files that could not be imported.
func checkInbox(dir engine.Dir) []finding {
	notes, _ := filepath.Glob(filepath.Join(dir.Inbox(), "failed", "*.error.txt"))
	if len(notes) == 0 {
		return nil
	}
	return []finding{{"inbox", warns, fmt.Sprintf("%s could not be imported, the last one %s", count(int64(len(notes)), "file"), strings.TrimSuffix(notes[len(notes)-1], ".error.txt")),
		"read the note next to each, and remove both once it is settled"}}
}

// checkKeyFile reads the whole file of keys, if it exists.
func checkKeyFile(ctx context.Context, dir engine.Dir) []finding {
	if _, err := os.Stat(dir.Control()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if closed := checkReadable("keys", dir.Control()); closed != nil {
		return closed
	}
	if err := control.Examine(ctx, dir.Control()); err != nil {
		return []finding{{"keys", fails, err.Error(), "stop the server and replace it with the control.db of a backup, without the -wal and -shm files next to it; pmx restore makes one"}}
	}
	return []finding{{"keys", fine, "control.db is intact, according to SQLite", ""}}
}

// checkRunning checks who has the database open, and the status of a running server; without one,
// the database itself.
func checkRunning(ctx context.Context, dir engine.Dir, now time.Time) ([]finding, error) {
	if admin.Running(dir.AdminSocket()) {
		s, odd, err := askStatus(ctx, dir)
		if err != nil {
			return nil, err
		}
		if odd != nil {
			return []finding{*odd}, nil
		}
		if s != nil {
			return checkServer(s, now), nil
		}
	}
	all := []finding{checkOpenFiles(openFilesLimit(), "a process started from here")}
	if held := inUse(dir); held != nil {
		return append(all, *held), nil
	}
	all = append(all, notRunning(dir))
	if _, follows := replica.Of(dir); follows {
		return all, nil // each start checks the copies, and there is no database besides them
	}
	if _, err := os.Stat(dir.Database()); errors.Is(err, fs.ErrNotExist) {
		return append(all, finding{"database", warns, "there is none yet", "import something, or start pmx serve --sample"}), nil
	}
	if closed := checkReadable("database", dir.Database()); closed != nil {
		return append(all, closed...), nil
	}
	return append(all, checkDatabase(ctx, dir)), nil
}

// inUse is the finding that a process has the database open although no server answers: it is starting, or it is a command; nil:
// no process has it open.
func inUse(dir engine.Dir) *finding {
	pid, exe := dir.Holder()
	if pid == 0 {
		return nil
	}
	return &finding{"lock", fails, fmt.Sprintf("%s is in use by process %d%s, which does not answer on %s", dir.Database(), pid, exe, dir.AdminSocket()),
		"if it is a command of pmx, or a server that is starting, wait for it; if it hangs, stop it"}
}

// notRunning is the finding that no server is running on a data directory.
func notRunning(dir engine.Dir) finding {
	if follows, ok := replica.Of(dir); ok {
		return finding{"server", warns, "no server is running on this data directory of a replica", "start it with pmx serve --follow " + visible(follows.Dir, "")}
	}
	return finding{"server", warns, "no server is running on this data directory", "start one with pmx serve"}
}

// checkDatabase compares a database that nobody has open with this program.
func checkDatabase(ctx context.Context, dir engine.Dir) finding {
	found, err := engine.Inspect(ctx, dir)
	at, newest := found.Schema, found.Newest
	torn := 0
	if err != nil {
		torn, _ = dir.Torn() // if this cannot be found out, the first error says more
	}
	switch {
	case torn > 0:
		return finding{"database", warns, "its metadata is half written, in " + count(int64(torn), "block") + ": its process was killed in a checkpoint",
			"nothing is lost: any command that opens it, such as pmx serve, restores them from pmx.duckdb.journal"}
	case err != nil:
		return finding{"database", fails, err.Error(), "see Faults in docs/operate.md; restore a backup if it cannot be opened"}
	case at > newest:
		return finding{"database", fails, fmt.Sprintf("its tables have version %d, and this pmx knows %d", at, newest), "run the newer pmx that wrote it, or restore a backup"}
	case at < newest:
		return finding{"database", warns, fmt.Sprintf("its tables have version %d, and this pmx brings them to %d when it opens them; an older pmx cannot read it then", at, newest),
			"keep a copy before you start this version"}
	case found.Stale:
		return finding{"database", warns, "the figures are not computed yet for all that is stored: an import was cut off before that", "run pmx refresh, or start the server, which does the same"}
	}
	return finding{"database", fine, fmt.Sprintf("its tables have version %d, the newest that this pmx knows", at), ""}
}

// checkOpenFiles checks a limit of open files.
func checkOpenFiles(limit uint64, whose string) finding {
	if limit < leastFiles {
		return finding{"open files", warns, fmt.Sprintf("%s may open %d files, but needs one for each connection", whose, limit), "raise ulimit -n, or LimitNOFILE of the service, to 65536"}
	}
	return finding{"open files", fine, fmt.Sprintf("%s may open %d", whose, limit), ""}
}

// sourcesAdvice says what to do without any fill, and if the newest one is old: on a replica it is done elsewhere.
func (s *serverStatus) sourcesAdvice() (first, newer string) {
	if s.Replica == nil {
		return "import some: pmx import, or the inbox", "check the sources, or what writes to the inbox"
	}
	writer := visible(cmp.Or(s.Replica.Writer, "the server that makes the backups"), "")
	return "import some at the writer, " + writer, "check at the writer, " + writer + ", its sources and what writes to its inbox"
}

// checkServer checks the status of a running server; nil gives no findings.
func checkServer(s *serverStatus, now time.Time) []finding {
	if s == nil {
		return nil
	}
	all := []finding{checkOpenFiles(s.OpenFiles, "the server")}
	add := func(wrong bool, level severity, check, detail, do string) {
		if wrong {
			all = append(all, finding{check, level, detail, do})
		}
	}
	f := &s.Fresh
	add(s.Version != version, warns, "version", fmt.Sprintf("the server runs %s, but this is %s", s.Version, version), "restart the server")
	if s.waits() {
		add(s.Replica.Problem != "", fails, "replica", s.Replica.Problem, "see \"When a replica falls behind\" in docs/replicas.md")
		return all
	}
	if r := s.Replica; r != nil {
		add(r.Problem != "", fails, "replica", "backup "+fmt.Sprint(r.Number)+" is served, which is not the newest: "+r.Problem, "see \"When a replica falls behind\" in docs/replicas.md")
	}
	add(f.FailureText != "" && s.Replica == nil, fails, "refresh", "refreshes fail: "+f.FailureText, "read the log; until it is solved, imported data is not served")
	add(f.VerifyFailure != "", fails, "verify", f.VerifyFailure, "keep a copy of the database, run pmx rebuild, then pmx verify, and report the check")
	add(f.Scheduled.Failing, fails, "backup", "the last scheduled backup failed, "+ago(f.Scheduled.Failed, now)+": "+f.Scheduled.Problem, "solve the problem; the next backup shows whether it worked")
	add(f.Published.Failing, fails, "publish", "changes are not published for the servers that follow; the last attempt failed "+ago(f.Published.Failed, now)+": "+f.Published.Problem, "solve the problem; the next attempt shows whether it worked")
	add(f.Asked.Failing, warns, "backup", "the last pmx backup failed, "+ago(f.Asked.Failed, now)+": "+f.Asked.Problem, "solve the problem, and run it again")
	add(!f.BackupDue.IsZero() && now.Sub(f.BackupDue) > backupLate, fails, "backup", "one was due "+ago(f.BackupDue, now)+" and was not made",
		"check the log, and whether --backup-dir can be reached")
	add(f.DiskFull, fails, "disk", "nothing new is stored", "free some space; work continues automatically")
	add(!s.CheckpointOwed.IsZero() && !f.DiskFull && now.Sub(s.CheckpointOwed) > checkpointLate, warns, "checkpoint",
		"the log has not been written into the database since "+ago(s.CheckpointOwed, now)+": it grows, and backups wait",
		"wait for the long query or backup that began before, such as an export; the next refresh then makes the checkpoint")
	add(f.Stale, warns, "rollups", "some stored facts are not served yet", "wait for the next refresh, or run pmx refresh")
	more := "start it with --memory " + strings.ReplaceAll(bytesOf(s.Memory.Needed), " ", "") + " or more"
	if s.Memory.GoFixed {
		more = "raise GOMEMLIMIT, or unset it and " + more
	}
	add(s.Memory.Needed > 0, warns, "memory", fmt.Sprintf("%s are live in Go, too much for its limit of %s: collecting garbage takes much of the processor time",
		bytesOf(s.Memory.LiveHeap), bytesOf(s.Memory.Limit.Go)), more)
	verified := f.LastVerified
	if verified.IsZero() {
		verified = s.Started
	}
	add(now.Sub(verified) > verifyEvery && s.Replica == nil, warns, "verify", "nothing was verified for "+roughly(now.Sub(verified).Seconds()), "check --verify-cron, or run pmx verify")
	add(s.AsOf.Sub(now) > clockAhead, fails, "clock", "the newest fill is of "+s.AsOf.UTC().Format(time.RFC3339)+", which is ahead of the clock", "set the clock; check where the fill comes from")
	first, newer := s.sourcesAdvice()
	add(!s.Historical && s.AsOf.IsZero(), warns, "data", "there are no fills yet", first)
	add(!s.Historical && !s.AsOf.IsZero() && now.Sub(s.AsOf) > staleAfter, fails, "data", "the newest fill is of "+ago(s.AsOf, now),
		newer+"; for a venue that has ended, start the server with --historical")
	for i := range s.Sources {
		src := &s.Sources[i]
		add(src.Problem != "" && s.Replica == nil, warns, "source "+src.Name, src.Problem, "see pmx sync status")
	}
	for _, b := range s.Background {
		add(b.Failing, fails, "background", b.Name+" does not work: "+b.Text, "the log has the panic with its stack: report it, and restart the server")
	}
	add(s.Tally.Reopened > 0, warns, "faults", "the database failed "+count(s.Tally.Reopened, "time")+" and was opened again", "keep the log lines \"database fault\" and report them")
	add(!s.Waiting.IsZero() && now.Sub(s.Waiting) > 30*time.Minute, warns, "exports", "one has been queued since "+ago(s.Waiting, now), "check the log lines of exports")
	if len(troubles(all)) == 0 {
		all = append(all, finding{"server", fine, fmt.Sprintf("%s answers, version %s, newest fill %s", s.URL, cmp.Or(s.Version, "unknown"), ago(s.AsOf, now)), ""})
	}
	return all
}
