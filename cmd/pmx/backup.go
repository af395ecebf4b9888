package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"pmx/engine/backup"
	"pmx/rollups/keeper"
)

// BackupCmd makes a backup, or lists or checks existing ones.
type BackupCmd struct {
	Dir    string `arg:"" help:"Folder of the backups; empty or new for the first one." type:"path"`
	Keep   int    `help:"Keep this many backups, the new one included, and remove older ones; 0 keeps all." default:"0" placeholder:"N"`
	Verify bool   `help:"Instead of making a backup, read and check every file of those in DIR."`
	List   bool   `help:"Instead of making a backup, list those in DIR."`
	JSON   bool   `help:"End with one JSON object instead of text."`
}

// Help is the longer help.
func (BackupCmd) Help() string {
	return `Backs up the database and the keys, with or without a running server. Requests are answered as usual, and
imports wait at most for a checkpoint. A later backup into the same folder writes only the blocks that
changed, but each backup is complete.

The files in the folder never change, apart from CURRENT, which names the newest backup and is replaced
last: restic, rclone or rsync can copy the folder elsewhere. Whoever has the folder has the data and the hashes of the keys.

  pmx backup /mnt/backup/pmx --keep 14
  pmx backup /mnt/backup/pmx --verify      exit status 0 if and only if every file is as it was written
  pmx backup /mnt/backup/pmx --list
  pmx restore /mnt/backup/pmx --data-dir restored

pmx serve --backup-dir does it on a schedule.`
}

var backingUp = operation[keeper.BackupRequest, share, keeper.BackupResult]{opBackup, backUp}

func backUp(ctx context.Context, k *keeper.Keeper, req keeper.BackupRequest, emit func(share)) (keeper.BackupResult, error) {
	req.Pmx = version
	return k.Backup(ctx, req, shares(emit))
}

// shares reports progress in steps of a hundredth. It may be called from several goroutines.
func shares(emit func(share)) func(done float64) {
	var mu sync.Mutex
	told := 0.0
	return func(done float64) {
		mu.Lock()
		defer mu.Unlock()
		if done >= told+0.01 {
			told = done
			emit(share{Done: done})
		}
	}
}

// Validate refuses flags that contradict each other.
func (c *BackupCmd) Validate() error {
	if c.Keep < 0 {
		return fmt.Errorf("--keep %d: give how many backups to keep, or 0 to keep all", c.Keep)
	}
	if c.Verify && c.List || c.Keep > 0 && (c.Verify || c.List) {
		return errors.New("--keep, --verify and --list exclude each other: --verify and --list make no backup")
	}
	return nil
}

// Run backs up.
func (c *BackupCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	switch {
	case c.Verify:
		return c.verify(ctx, std)
	case c.List:
		return c.list(std)
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	m := newProgressBar(std, c.JSON)
	out, err := perform(ctx, cli, backingUp, keeper.BackupRequest{Dir: dir, Keep: c.Keep}, func(s share) { m.show("backing up", s.Done, "") })
	m.clear()
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std.out, out)
	}
	_, err = fmt.Fprintf(std.out, "backup %d in %s: %s, %s; %s new in %s; %.1f s, of which imports waited %.2f s\n", out.Number, c.Dir,
		count(out.Fills, "fill"), size(out.Bytes), size(out.NewBytes), count(out.NewBlocks, "block"), out.Seconds, out.Paused)
	if err == nil && out.Removed > 0 {
		_, err = fmt.Fprintf(std.out, "old backups removed: %d\n", out.Removed)
	}
	return err
}

// size formats a number of bytes.
func size(bytes int64) string { return humanize.Bytes(uint64(max(bytes, 0))) }

// verify checks every file.
func (c *BackupCmd) verify(ctx context.Context, std stdio) (err error) {
	repo, err := backup.Open(c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	m, began := newProgressBar(std, c.JSON), time.Now()
	report, err := repo.Verify(ctx, shares(func(s share) { m.show("checking", s.Done, "") }))
	m.clear()
	if err != nil {
		return err
	}
	ok := len(report.Faults) == 0
	if c.JSON {
		err = printJSON(std.out, struct {
			OK bool `json:"ok"`
			*backup.Report
		}{ok, report})
	} else {
		for _, fault := range report.Faults {
			_, _ = fmt.Fprintln(std.out, "FAILED", fault)
		}
		_, err = fmt.Fprintf(std.out, "%s, %s, %s: %s; %.1f s\n", count(int64(report.Backups), "backup"), count(int64(report.Blocks), "block"), size(report.Bytes),
			count(int64(len(report.Faults)), "fault"), time.Since(began).Seconds())
	}
	if err != nil || ok {
		return err
	}
	if !c.JSON {
		for _, text := range report.Advice {
			_, _ = fmt.Fprintln(std.err, "pmx:", text)
		}
	}
	return errSilent
}

// listed is a backup in a list.
type listed struct {
	Number  int64     `json:"number"`
	At      time.Time `json:"at,omitzero"`
	AsOf    time.Time `json:"as_of,omitzero"`
	Fills   int64     `json:"fills"`
	Bytes   int64     `json:"bytes"`
	Pmx     string    `json:"pmx,omitempty"`
	Current bool      `json:"current"`
	Problem string    `json:"problem,omitempty"` // why it cannot be restored; then the rest is unknown
}

// list shows all backups. A damaged one is reported and does not prevent listing the others.
func (c *BackupCmd) list(std stdio) (err error) {
	repo, err := backup.Open(c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	names, err := repo.Manifests()
	if err != nil {
		return err
	}
	current, damaged := repo.Current()
	if errors.Is(damaged, backup.ErrNone) {
		return damaged
	}
	all := []listed{}
	for _, name := range names {
		m, err := repo.Load(name)
		if err != nil {
			damaged = errors.Join(damaged, err)
			all = append(all, listed{Number: backup.Number(name), Current: name == current, Problem: err.Error()})
			continue
		}
		all = append(all, listed{backup.Number(name), m.At, m.AsOf, m.Fills, m.Size(), m.Pmx, name == current, ""})
	}
	if c.JSON {
		err = printJSON(std.out, map[string]any{"backups": all})
	} else {
		err = printBackups(std, all)
	}
	if err == nil && damaged != nil {
		err = fmt.Errorf("%w; pmx backup %s --verify says what to do", damaged, c.Dir)
	}
	return err
}

// printBackups writes a line for each.
func printBackups(std stdio, all []listed) error {
	for _, b := range all {
		mark := ""
		if b.Current {
			mark = "  current"
		}
		text := fmt.Sprintf("%s  %14s fills  %8s  pmx %s", b.At.Format(time.RFC3339), thousands(b.Fills), size(b.Bytes), b.Pmx)
		if b.Problem != "" {
			text = "damaged"
		}
		if _, err := fmt.Fprintf(std.out, "%6d  %s%s\n", b.Number, text, mark); err != nil {
			return err
		}
	}
	return nil
}
