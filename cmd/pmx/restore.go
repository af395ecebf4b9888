package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"pmx/data"
	"pmx/data/reference"
	"pmx/engine"
	"pmx/engine/backup"
	"pmx/engine/control"
	"pmx/http/admin"
)

// RestoreCmd makes a data directory from a backup.
type RestoreCmd struct {
	Repo   string `arg:"" name:"dir" help:"Folder of the backups." type:"path"`
	Number string `name:"backup" help:"Number of the backup, as pmx backup DIR --list shows it; by default the newest." placeholder:"N"`
	Quick  bool   `help:"Do not verify the database: only open it and count its rows. The checksums of all blocks are compared in any case."`
	JSON   bool   `help:"End with one JSON object instead of text."`
}

// Help is the longer help.
func (RestoreCmd) Help() string {
	return `Makes the data directory that --data-dir names from a backup. It must not exist yet, or be empty.

Every block is checked. The data is opened and verified, as by pmx verify, in DIR.restoring, and only then renamed to
its final place. An interrupted restore leaves no data directory, and it is safe to run the command again. Keys that were
revoked since the backup are valid again: check pmx keys list.

  pmx restore /mnt/backup/pmx --data-dir /var/lib/pmx
  pmx restore /mnt/backup/pmx --data-dir before --backup 12
  pmx restore /mnt/backup/pmx --data-dir trial --quick`
}

// restored is the result of a restore.
type restored struct {
	DataDir string    `json:"data_dir"`
	Number  int64     `json:"number"`
	At      time.Time `json:"at"`
	AsOf    time.Time `json:"as_of,omitzero"`
	Fills   int64     `json:"fills"`
	Bytes   int64     `json:"bytes"`
	Checks  int       `json:"checks"`              // number that passed; 0: it was not verified
	Aside   []string  `json:"set_aside,omitempty"` // operator's files that cannot be read
	Copied  float64   `json:"copied_seconds"`
	Seconds float64   `json:"seconds"`
}

// Run restores.
func (c *RestoreCmd) Run(ctx context.Context, cli *CLI, std stdio) (err error) {
	dir, err := cli.ownDir()
	if err != nil {
		return err
	}
	if admin.Running(dir.AdminSocket()) {
		return fmt.Errorf("a server is running on %s: restore into another --data-dir", dir)
	}
	if err := backup.Apart(string(dir), c.Repo); err != nil {
		return err
	}
	repo, err := backup.Open(c.Repo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	name, err := repo.Find(c.Number)
	if err != nil {
		return err
	}
	m, err := repo.Load(name)
	if err != nil {
		return fmt.Errorf("%w; restore another one with --backup: pmx backup %s --list shows them", err, c.Repo)
	}
	out := restored{DataDir: string(dir), Number: backup.Number(name), At: m.At, AsOf: m.AsOf, Fills: m.Fills, Bytes: m.Size()}
	if err := c.restore(ctx, cli, std, repo, m, &out); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std.out, out)
	}
	proof := fmt.Sprintf("all %d checks hold", out.Checks)
	if c.Quick {
		proof = "not verified: run pmx verify"
	}
	_, err = fmt.Fprintf(std.out, "backup %d of %s is restored to %s: %s, %s; %s; %.1f s, of which copying %.1f s\n", out.Number, m.At.Format(time.RFC3339), dir,
		count(m.Fills, "fill"), size(out.Bytes), proof, out.Seconds, out.Copied)
	return err
}

// restore creates the directory under a temporary name, and renames it at the end.
func (c *RestoreCmd) restore(ctx context.Context, cli *CLI, std stdio, repo *backup.Repo, m *backup.Manifest, out *restored) error {
	began := time.Now()
	s, err := backup.Stage(out.DataDir)
	if err != nil {
		return err
	}
	bar := newProgressBar(std, c.JSON)
	defer bar.clear()
	err = extract(ctx, repo, m, s.Dir(), bar)
	out.Copied = time.Since(began).Seconds()
	if err == nil {
		out.Aside, err = setAside(engine.Dir(s.Dir()), std)
	}
	if err == nil {
		out.Checks, err = c.prove(ctx, cli, engine.Dir(s.Dir()), m, bar)
	}
	bar.clear()
	if err == nil {
		err = s.Publish()
	}
	if err != nil {
		return errors.Join(err, s.Discard())
	}
	out.Seconds = time.Since(began).Seconds()
	return nil
}

// setAside renames operator's files in the data directory that cannot be read, for example because
// they were being written during the backup: pmx would not start with them, and the database does
// not need them. It returns their names.
func setAside(dir engine.Dir, std stdio) (names []string, err error) {
	_, wallets := venueWallets(dir)
	text, err := data.ReadRegular(underDir(dir, citiesName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	_, places := reference.Extended(string(text), "")
	for _, f := range []struct {
		name string
		bad  func() error
	}{
		{venueWalletsName, func() error { return wallets }},
		{citiesName, func() error { return places }},
		{stationsName, func() error { _, err := cities(dir); return err }}, // with the remaining cities
	} {
		why := f.bad()
		if why == nil {
			continue
		}
		if err := os.Rename(underDir(dir, f.name), underDir(dir, f.name+".bad")); err != nil {
			return names, errors.Join(why, err)
		}
		names = append(names, f.name)
		if _, err := fmt.Fprintf(std.err, "pmx: %s of the backup cannot be read and is renamed to %s.bad: correct it and rename it: %v\n", f.name, f.name, why); err != nil {
			return names, err
		}
	}
	return names, nil
}

// extract writes all files of a backup.
func extract(ctx context.Context, repo *backup.Repo, m *backup.Manifest, dir string, bar *progressBar) error {
	var written atomic.Int64
	show := shares(func(s share) { bar.show("restoring", s.Done, "") })
	for _, f := range m.Files {
		to, err := data.CreateRegular(filepath.Join(dir, f.Name))
		if err != nil {
			return err
		}
		err = repo.Extract(ctx, f, to, func(n int64) { show(float64(written.Add(n)) / float64(max(m.Size(), 1))) })
		if err = errors.Join(err, to.Close()); err != nil {
			return fmt.Errorf("restore %s: %w", f.Name, err)
		}
	}
	return nil
}

// prove opens and verifies the restored database. It returns how many checks passed: all of them,
// or an error.
func (c *RestoreCmd) prove(ctx context.Context, cli *CLI, dir engine.Dir, m *backup.Manifest, bar *progressBar) (held int, err error) {
	if err := checkKeys(ctx, dir); err != nil {
		return 0, err
	}
	k, err := cli.openKeeper(ctx, dir, quiet())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	if err := k.CheckRestored(ctx, m); err != nil || c.Quick {
		return 0, err
	}
	if err := k.Refresh(ctx, stages(bar.stage)); err != nil { // an import may have ended before the figures were computed
		return 0, err
	}
	checks, err := k.Verify(ctx, stages(bar.stage))
	if err != nil {
		return 0, err
	}
	for _, check := range checks {
		if !check.OK {
			return 0, fmt.Errorf("the backup is intact, but the check %s of pmx verify fails: %s; restore an older one with --backup, "+
				"or this one with --quick and run pmx rebuild", check.Name, check.Detail)
		}
		held++
	}
	return held, nil
}

// checkKeys checks the file of keys, if there is one.
func checkKeys(ctx context.Context, dir engine.Dir) error {
	if _, err := os.Stat(dir.Control()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	keys, err := control.Open(ctx, dir.Control(), time.Now)
	if err != nil {
		return err
	}
	return errors.Join(keys.Check(ctx), keys.Close())
}
