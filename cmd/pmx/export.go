package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"

	"pmx/data"
	"pmx/engine/export"
	"pmx/rollups/keeper"
)

// ExportCmd writes canonical files.
type ExportCmd struct {
	Dataset string `arg:"" help:"fills, markets or resolutions." enum:"fills,markets,resolutions"`
	Format  string `help:"parquet, csv or ndjson." enum:"parquet,csv,ndjson" default:"parquet"`
	Out     string `help:"File to write, or - for standard output." required:"" placeholder:"FILE"`
	JSON    bool   `help:"End with one JSON object; not with --out -."`
}

// Help is the longer help.
func (ExportCmd) Help() string {
	return `The files are in pmx's own canonical columns, exact to the last digit, and pmx import reads them back.
The file appears under its name only when it is complete.

  pmx export fills --out fills.parquet
  pmx export markets --format csv --out - | head`
}

type exportRequest struct {
	Dataset string      `json:"dataset"`
	Format  data.Format `json:"format"`
}

type exported struct {
	Path string `json:"path"` // in the data directory; the command takes it from there
	Rows int64  `json:"rows"`
}

func localExport(ctx context.Context, k *keeper.Keeper, req exportRequest, _ func(stage)) (out exported, err error) {
	err = k.DB().Read(ctx, func(conn *sql.Conn) error {
		out.Path, out.Rows, err = export.WriteFacts(ctx, conn, k.DB().Dir().Tmp(), req.Dataset, req.Format)
		return err
	})
	return out, err
}

// Run exports.
func (c *ExportCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	res, err := perform(ctx, cli, opExport, exportRequest{c.Dataset, data.Format(c.Format)}, func(stage) {}, localExport)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(res.Path) }()
	if c.Out == "-" {
		return copyFile(std.out, res.Path)
	}
	if os.Rename(res.Path, c.Out) != nil { // another file system
		if err := copyAside(c.Out, res.Path); err != nil {
			return err
		}
	}
	if c.JSON {
		return printJSON(std.out, map[string]any{"dataset": c.Dataset, "format": c.Format, "file": c.Out, "rows": res.Rows})
	}
	_, err = fmt.Fprintf(std.err, "%s: %s rows\n", c.Out, thousands(res.Rows))
	return err
}

func copyFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return errors.Join(err, f.Close())
}

// copyAside writes beside the target and renames, so that a half-written file
// never has its name.
func copyAside(target, from string) error {
	part, err := os.Create(target + ".part")
	if err != nil {
		return err
	}
	err = copyFile(part, from)
	if err := errors.Join(err, part.Sync(), part.Close()); err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return os.Rename(part.Name(), target)
}
