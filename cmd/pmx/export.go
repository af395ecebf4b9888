package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pmx/data"
	"pmx/engine/export"
	"pmx/rollups/keeper"
)

// ExportCmd writes datasets.
type ExportCmd struct {
	Dataset     string `arg:"" help:"Dataset to export, see above." enum:"markets,trader_leaderboard,wallet_pnl,oracle_accuracy,fills,conditions,resolutions,forecasts,actuals,observations,normals,lake"`
	Format      choice `help:"parquet or csv; for facts also ndjson. By default it follows the extension of --out; parquet if it has none." enum:",parquet,csv,ndjson" default:"" placeholder:"FORMAT"`
	Out         string `help:"File to write, or - for standard output." required:"" placeholder:"FILE"`
	PartitionBy choice `help:"With fills: write all facts into the folder --out, one file per day. A later run writes only the days that changed." enum:",day" default:"" placeholder:"day"`
	Check       bool   `help:"With lake: read every existing file and compare its checksum; by default only sizes are compared."`
	Shards      bool   `help:"With lake: also write the fills by wallet and by token, so that servers can read single fills from the lake."`
	JSON        bool   `help:"End with one JSON object; not with --out -."`
}

// Help is the longer help.
func (ExportCmd) Help() string {
	return `Research datasets, the same as the export jobs of the API, as parquet or csv:
  markets             markets with volume, status and resolution
  trader_leaderboard  wallets ranked by lifetime profit
  wallet_pnl          volumes, counts and profit of each wallet
  oracle_accuracy     forecasting accuracy of each wallet

Facts in canonical columns, exact to the last digit; pmx import reads them back:
  fills               fills
  conditions          markets, with everything their sources said
  resolutions         payouts
  forecasts           weather forecasts
  actuals             temperature extremes of past days, by source
  observations        temperatures reported by stations
  normals             climate normals, without those pmx derives itself

The file gets its name only when it is complete.

All facts for other engines, as a folder of files that never change:
  lake                fills by day, tokens, conditions, resolutions, wallets; a later run writes only what changed

  pmx export wallet_pnl --out wallets.parquet
  pmx export trader_leaderboard --out leaderboard.csv
  pmx export markets --format csv --out - | head
  pmx export fills --partition-by day --out facts    # read back with: pmx import facts
  pmx export lake --out lake`
}

// endings are the formats by the extension of a file's name.
var endings = map[string]data.Format{".parquet": data.Parquet, ".csv": data.CSV, ".ndjson": data.NDJSON, ".jsonl": data.NDJSON}

// Validate chooses the format, and refuses one that the dataset does not have or that contradicts
// the file's name.
func (c *ExportCmd) Validate() error {
	if ending := filepath.Ext(c.Out); c.PartitionBy == "" && c.Dataset != "lake" {
		switch of := choice(endings[strings.ToLower(ending)]); {
		case c.Format == "" && of == "" && ending != "" && !isDevice(c.Out):
			return fmt.Errorf("--out %s: %s is the extension of none of the formats parquet, csv and ndjson: choose one with --format, or another file name", c.Out, ending)
		case c.Format == "":
			c.Format = of
		case of != "" && of != c.Format:
			return fmt.Errorf("--format=%s and --out %s contradict each other: leave --format out, or choose another file name", c.Format, c.Out)
		}
	}
	c.Format = cmp.Or(c.Format, choice(data.Parquet))
	if c.Format == choice(data.NDJSON) && slices.Contains(export.Datasets(), c.Dataset) {
		return fmt.Errorf("ndjson is for facts, such as fills: %s is written as parquet or csv", c.Dataset)
	}
	return nil
}

// isDevice reports whether a path is that of something else than a file or folder.
func isDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

type exportRequest struct {
	Dataset string      `json:"dataset"`
	Format  data.Format `json:"format"`
}

// share is the progress of an export, as an event.
type share struct {
	Done  float64 `json:"done"`            // 0…1; negative: not known
	Bytes int64   `json:"bytes,omitempty"` // written so far, if nothing else is known
}

func (s share) written() string {
	if s.Bytes == 0 {
		return ""
	}
	return size(s.Bytes) + " written"
}

type exported struct {
	Path      string    `json:"path"` // in the data directory; the command moves it from there
	Rows      int64     `json:"rows"`
	SHA256    string    `json:"sha256,omitempty"` // only research datasets, like the two below
	AsOf      time.Time `json:"as_of,omitzero"`
	Truncated bool      `json:"truncated,omitempty"`
}

func exportDataset(ctx context.Context, k *keeper.Keeper, req exportRequest, emit func(share)) (out exported, err error) {
	if slices.Contains(export.Datasets(), req.Dataset) {
		return localDataset(ctx, k, req, emit)
	}
	out.Path, out.Rows, err = k.Exporter().WriteFacts(ctx, k.DB().Dir().Tmp(), req.Dataset, req.Format, func(bytes int64) { emit(share{Done: -1, Bytes: bytes}) })
	return out, err
}

// localDataset writes into a new folder, so that concurrent exports do not interfere.
func localDataset(ctx context.Context, k *keeper.Keeper, req exportRequest, emit func(share)) (exported, error) {
	if err := k.Computed(ctx); err != nil {
		return exported{}, err
	}
	dir, err := os.MkdirTemp(k.DB().Dir().Tmp(), "export-*")
	if err != nil {
		return exported{}, err
	}
	path := filepath.Join(dir, req.Dataset+"."+string(req.Format))
	file, err := k.Exporter().Write(ctx, req.Dataset, req.Format, path, func(done float64) { emit(share{Done: done}) })
	if err != nil {
		return exported{}, errors.Join(err, os.RemoveAll(dir))
	}
	return exported{Path: path, Rows: file.Rows, SHA256: file.SHA256, AsOf: file.AsOf, Truncated: file.Truncated}, nil
}

// Run exports.
func (c *ExportCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	if c.Dataset == "lake" {
		return c.lake(ctx, cli, std)
	}
	if c.Check {
		return wrong("check", " is for lake: pmx export lake --out FOLDER --check")
	}
	if c.Shards {
		return wrong("shards", " is for lake: pmx export lake --out FOLDER --shards")
	}
	if c.PartitionBy != "" {
		return c.partition(ctx, cli, std)
	}
	if c.Out == "-" && c.Format == choice(data.Parquet) && isTerminal(std.out) {
		return errors.New("parquet is not for a terminal: give a file with --out, or --format csv")
	}
	if err := checkFolderOf(c.Out); err != nil {
		return err
	}
	m := newProgressBar(std, c.JSON)
	res, err := perform(ctx, cli, exporting, exportRequest{c.Dataset, data.Format(c.Format)},
		func(s share) { m.show("exporting "+c.Dataset, s.Done, s.written()) })
	m.clear()
	if err != nil {
		return err
	}
	defer removeExported(res.Path)
	if c.Out == "-" {
		return within(ctx, func() error { return copyFile(std.out, res.Path) })
	}
	if err := std.moveInto(ctx, c.Out, res.Path); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std.out, map[string]any{"dataset": c.Dataset, "format": c.Format, "file": c.Out, "rows": res.Rows, "truncated": res.Truncated})
	}
	note := ""
	if res.Truncated {
		note = fmt.Sprintf(", the first ones only: a file has at most %s", thousands(export.MaxRows))
	}
	_, err = fmt.Fprintf(std.err, "%s: %s%s\n", c.Out, count(res.Rows, "row"), note)
	return err
}

// removeExported removes the rest of a file that was moved, and the folder created for it.
func removeExported(path string) {
	_ = os.Remove(path)
	if dir := filepath.Dir(path); filepath.Base(dir) != "tmp" {
		_ = os.Remove(dir)
	}
}
