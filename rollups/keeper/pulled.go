package keeper

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"pmx/engine/export"
	"pmx/rollups"
	"pmx/rollups/cluster"
	"pmx/rollups/query"
)

// needFills returns an error if the database has rollups that were computed elsewhere and no fills.
func (k *Keeper) needFills(what string) error {
	if k.pulled == nil {
		return nil
	}
	return fmt.Errorf("%s needs fills, and this database has none: its rollups were computed from the lake %.16s… and pulled", what, k.pulled.Lake)
}

// Pulled reports what the database was pulled from, nil if it has fills of its own.
func (k *Keeper) Pulled() *rollups.Pulled { return k.pulled }

// NeedFills returns an error if the database has no fills, for work that needs them; what is the
// name of the work.
func (k *Keeper) NeedFills(what string) error { return k.needFills(what) }

// findFills finds out where the fills are.
func (k *Keeper) findFills(ctx context.Context) error {
	return k.db.Read(ctx, func(conn *sql.Conn) error {
		pulled, lake, err := k.fillsOf(ctx, conn)
		if err != nil {
			return err
		}
		k.pulled = pulled
		k.lake.Store(lake)
		return nil
	})
}

// fillsOf reports what the database that conn reads was pulled from, nil if it has fills, and where these are.
func (k *Keeper) fillsOf(ctx context.Context, conn *sql.Conn) (*rollups.Pulled, *query.Lake, error) {
	pulled, err := rollups.ReadPulled(ctx, conn)
	switch {
	case err != nil:
		return nil, nil, err
	case pulled == nil && k.cfg.Lake != "":
		return nil, nil, fmt.Errorf("the lake %s is not needed: the database has its own fills", k.cfg.Lake)
	case pulled == nil:
		return nil, nil, nil
	case k.cfg.Lake == "":
		return pulled, &query.Lake{}, nil
	}
	m, err := cluster.ReadLakeOf(k.cfg.Lake, pulled.Lake)
	if err != nil {
		return nil, nil, err
	}
	days := map[int64]string{}
	for _, f := range m.Files {
		if f.Dataset != "fills" && !export.IsShard(f.Dataset) {
			continue
		}
		if err := cluster.CheckFile(k.cfg.Lake, f, false); err != nil {
			return nil, nil, err
		}
		if f.Dataset != "fills" {
			continue
		}
		date, err := time.Parse(time.DateOnly, f.Day)
		if err != nil {
			return nil, nil, fmt.Errorf("the lake %s: %w", k.cfg.Lake, err)
		}
		days[date.Unix()/86_400] = filepath.Join(k.cfg.Lake, filepath.FromSlash(f.Name))
	}
	blocks, err := m.Blocks()
	if err != nil {
		return nil, nil, err
	}
	lake := &query.Lake{Days: days, Wallets: map[int64][]query.Shard{}, Tokens: map[int64][]query.Shard{}}
	for first, b := range blocks {
		wallets, tokens := k.shardsOf(b.Wallets), k.shardsOf(b.Tokens)
		for day := first; day < first+export.ShardDays; day++ {
			lake.Wallets[day], lake.Tokens[day] = wallets, tokens
		}
	}
	return pulled, lake, nil
}

// shardsOf returns shards of the lake for package query.
func (k *Keeper) shardsOf(files []export.LakeFile) []query.Shard {
	shards := make([]query.Shard, len(files))
	for i, f := range files {
		shards[i] = query.Shard{Prefix: f.Prefix, Suffix: f.Suffix, Path: filepath.Join(k.cfg.Lake, filepath.FromSlash(f.Name))}
	}
	return shards
}

// Pull puts rollups that another engine published in the folder out, and the markets, wallets and weather of the lake that
// they were computed from, into an empty database. Every file is compared with its manifest first. If before is what is
// published, nothing is done and before is returned.
func (k *Keeper) Pull(ctx context.Context, out, lake string, before *rollups.Pulled, step Step) (*rollups.Pulled, error) {
	published, m, err := readPublished(out, lake)
	if err != nil {
		return nil, err
	}
	if before != nil && before.Lake == published.Lake && before.Rollups == published.ID() {
		return before, nil
	}
	var others []string
	for _, dir := range []struct {
		name  string
		files []export.LakeFile
	}{{out, published.Files}, {lake, m.Files}} {
		for i, f := range dir.files {
			if step != nil {
				step("checking the files of "+dir.name, i, len(dir.files))
			}
			// Most fills are not read now: it is enough that their files exist.
			if err := errors.Join(ctx.Err(), cluster.CheckFile(dir.name, f, needed(f, m.AsOf))); err != nil {
				return nil, err
			}
			if dir.name == lake && slices.Contains(export.Facts[1:], f.Dataset) {
				others = append(others, filepath.Join(lake, filepath.FromSlash(f.Name)))
			}
		}
	}
	if len(others) > 0 {
		res, err := k.Import(ctx, Request{Paths: others}, nil)
		if err != nil {
			return nil, err
		}
		if len(res.Failed)+len(res.Skipped) > 0 {
			f := append(res.Failed, res.Skipped...)[0]
			return nil, fmt.Errorf("%s of the lake: %s", f.File, f.Error)
		}
	}
	return k.pullRollups(ctx, published, m, out, lake, step)
}

// readPublished reads the manifests of rollups and of their lake, which must be of this program's definitions.
func readPublished(out, lake string) (*cluster.Rollups, *cluster.Lake, error) {
	published, err := cluster.ReadRollups(out)
	if err != nil {
		return nil, nil, err
	}
	m, err := cluster.ReadLakeOf(lake, published.Lake)
	if err != nil {
		return nil, nil, err
	}
	if m.Version != export.LakeVersion || m.Method != export.Method {
		return nil, nil, fmt.Errorf("the lake in %s was written by another version of pmx: export it again, and compute its rollups again", lake)
	}
	if m.AsOf != published.AsOf || m.WhaleMin != published.WhaleMin {
		return nil, nil, fmt.Errorf("the manifests in %s and %s do not agree: compute the rollups again", out, lake)
	}
	return published, m, nil
}

// pullRollups fills the database, with files that were checked.
func (k *Keeper) pullRollups(ctx context.Context, published *cluster.Rollups, m *cluster.Lake, out, lake string, step Step) (p *rollups.Pulled, err error) {
	inside, err := os.MkdirTemp(k.db.Dir().Tmp(), "pull-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(inside)) }()
	p = &rollups.Pulled{Lake: published.Lake, Rollups: published.ID(), Fills: m.Fills, At: k.cfg.Now().UTC().Truncate(time.Microsecond)}
	src := rollups.PullSource{Record: *p, AsOf: published.AsOf, WhaleMin: published.WhaleMin, Rows: map[string]int64{}}
	files := slices.DeleteFunc(slices.Clone(m.Files), func(f export.LakeFile) bool { return !needed(f, m.AsOf) })
	ours, err := bringIn(inside, "lake", lake, files)
	if err != nil {
		return nil, err
	}
	src.Wallets, src.Tokens, src.Fills = ours["wallets"], ours["tokens"], ours["fills"]
	if src.Rollups, err = bringIn(inside, "rollups", out, published.Files); err != nil {
		return nil, err
	}
	for _, table := range published.Tables {
		src.Rows[table] = 0
	}
	for _, f := range published.Files {
		src.Rows[f.Dataset] += f.Rows
	}
	if err := k.work.Lock(ctx); err != nil {
		return nil, err
	}
	defer k.work.Unlock()
	err = k.db.Write(ctx, func(conn *sql.Conn) error {
		if err := rollups.Pull(ctx, conn, src, step); err != nil {
			return err
		}
		return rollups.StoreIndex(ctx, conn)
	})
	k.pulled = p
	return p, err
}

// needed reports whether a file of the lake is read when its rollups are pulled.
func needed(f export.LakeFile, asOf int64) bool {
	if f.Dataset != "fills" {
		return !export.IsShard(f.Dataset)
	}
	date, err := time.Parse(time.DateOnly, f.Day)
	return err == nil && rollups.NeedsFills(date.Unix()/86_400, asOf)
}

// bringIn makes files of a folder appear below the data directory, and returns, by dataset, the
// files that DuckDB is to read.
func bringIn(inside, prefix, dir string, files []export.LakeFile) (map[string]string, error) {
	lists := map[string]string{}
	for i, f := range files {
		path := filepath.Join(inside, fmt.Sprintf("%s-%06d.parquet", prefix, i))
		if err := linkOrCopy(filepath.Join(dir, filepath.FromSlash(f.Name)), path); err != nil {
			return nil, err
		}
		if lists[f.Dataset] != "" {
			lists[f.Dataset] += ", "
		}
		lists[f.Dataset] += parquetPath(path)
	}
	return lists, nil
}
