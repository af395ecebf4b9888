package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/backup"
	"pmx/http/admin"
	"pmx/rollups"
)

// PullCmd makes a data directory from published rollups.
type PullCmd struct {
	Rollups string `arg:"" name:"dir" help:"Folder of the rollups that rollups/cluster published." type:"path"`
	Lake    string `help:"Folder of the lake that they were computed from." required:"" type:"path" placeholder:"DIR"`
	JSON    bool   `help:"End with one JSON object instead of text."`
}

// Help is the longer help.
func (PullCmd) Help() string {
	return `Makes the data directory that --data-dir names from rollups that another engine (Spark, Sail or Trino) computed,
instead of computing them. The directory must not exist yet, or be empty, or come from an earlier pull; its keys and settings
stay. Every file is checked against its manifest. Rollups that are incomplete, or that follow other definitions, are refused.
The database is created in DIR.restoring and then renamed to its final place, so it is safe to run the command again after
an interruption.

Such a database has every figure but no single fills. The server reads those from the lake, if it is given one:

  pmx pull out --lake lake --data-dir reader
  pmx serve --data-dir reader --lake lake`
}

// pulled is the result of a pull.
type pulled struct {
	DataDir string          `json:"data_dir"`
	Same    bool            `json:"unchanged"` // it was already there
	From    *rollups.Pulled `json:"from"`
	Seconds float64         `json:"seconds"`
}

// Run pulls.
func (c *PullCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	dir, err := cli.ownDir()
	if err != nil {
		return err
	}
	if admin.Running(dir.AdminSocket()) {
		return fmt.Errorf("a server is running on %s: pull into another --data-dir, or stop it first", dir)
	}
	for _, of := range []string{c.Rollups, c.Lake} {
		if err := backup.Apart(string(dir), of); err != nil {
			return err
		}
	}
	began := time.Now()
	before, err := c.before(ctx, cli, dir)
	if err != nil {
		return err
	}
	out := pulled{DataDir: string(dir)}
	if out.From, err = c.pull(ctx, cli, dir, before, std); err != nil {
		return err
	}
	out.Same = before != nil && out.From == before
	out.Seconds = time.Since(began).Seconds()
	if c.JSON {
		return printJSON(std.out, out)
	}
	if out.Same {
		_, err = fmt.Fprintf(std.out, "%s has these rollups already, of %s\n", dir, count(out.From.Fills, "fill"))
		return err
	}
	_, err = fmt.Fprintf(std.out, "%s has the rollups of %s, and none of the fills: pmx serve --data-dir %s --lake %s; %.1f s\n", dir, count(out.From.Fills, "fill"),
		dir, c.Lake, out.Seconds)
	return err
}

// before returns what the data directory was pulled from; nil if it is free.
func (c *PullCmd) before(ctx context.Context, cli *CLI, dir engine.Dir) (was *rollups.Pulled, err error) {
	if _, err := os.Stat(dir.Database()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	k, err := cli.openKeeper(ctx, dir, quiet())
	if err != nil {
		return nil, err
	}
	was = k.Pulled()
	if err := k.Close(); err != nil {
		return nil, err
	}
	if was == nil {
		return nil, fmt.Errorf("%s has a database with fills of its own: pull into another --data-dir", dir)
	}
	return was, nil
}

// quiet returns the log of a command, which has only warnings.
func quiet() zerolog.Logger { return zerolog.New(os.Stderr).Level(zerolog.WarnLevel) }

// pull creates the database under a temporary name and renames it at the end; before is what the
// directory was pulled from earlier.
func (c *PullCmd) pull(ctx context.Context, cli *CLI, dir engine.Dir, before *rollups.Pulled, std stdio) (_ *rollups.Pulled, err error) {
	target := string(dir)
	if before != nil {
		target += ".pulling" // the directory keeps its name: only the database in it is replaced
	}
	s, err := backup.Stage(target)
	if err != nil {
		return nil, err
	}
	staged := engine.Dir(s.Dir())
	published := false
	defer func() {
		if !published {
			err = errors.Join(err, s.Discard())
		}
	}()
	for _, name := range []string{citiesName, stationsName, venueWalletsName} {
		if err := copyIfThere(underDir(dir, name), underDir(staged, name)); err != nil {
			return nil, err
		}
	}
	bar := newProgressBar(std, c.JSON)
	k, err := cli.openKeeper(ctx, staged, quiet())
	if err != nil {
		return nil, err
	}
	now, err := k.Pull(ctx, c.Rollups, c.Lake, before, stages(bar.stage))
	bar.clear()
	if err := errors.Join(err, k.Close()); err != nil {
		return nil, err
	}
	switch {
	case now == before:
		return now, nil
	case before == nil:
		published = true
		if err := s.Publish(); err != nil {
			return nil, errors.Join(err, s.Discard())
		}
		return now, nil
	}
	// This took minutes, during which nothing locked the directory.
	if admin.Running(dir.AdminSocket()) {
		return nil, fmt.Errorf("a server was started on %s in the meantime and serves the previous data: stop it, and pull again", dir)
	}
	if err := os.Rename(staged.Database(), dir.Database()); err != nil {
		return nil, err
	}
	return now, data.SyncFolder(string(dir))
}

// copyIfThere copies a small file of settings if it exists.
func copyIfThere(from, to string) error {
	text, err := data.ReadRegular(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := data.CreateRegular(to)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
