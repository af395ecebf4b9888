package cluster

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	_ "github.com/duckdb/duckdb-go/v2" // the engine of the proof

	"pmx/engine/export"
	"pmx/engine/statement"
	"pmx/rollups"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var proofs = statement.MustLoad(sqlFiles)

// Proof says what to verify in published rollups when no database has their facts.
type Proof struct {
	Lake, Out string
	Prefix    string // of the addresses whose rollups are recomputed
	Memory    string // DuckDB's limit
	Step      func(name string, done, of int)
}

// ownTables are the rollups of a wallet that follow only from its own fills and the tokens.
var ownTables = []string{"position", "wallet_day", "wallet_total", "redemption", "whale_move", "desk_wallet"}

var addressPrefix = regexp.MustCompile(`^0x[0-9a-f]{0,40}$`)

// Run compares every file with its manifest, and the rollups with the lake: sums of days, sums of
// grains, markets whose profits and losses cancel out, and everything about some wallets.
func (p *Proof) Run(ctx context.Context) (checks []rollups.Check, err error) {
	if !addressPrefix.MatchString(p.Prefix) {
		return nil, fmt.Errorf("%q is not the beginning of an address: give 0x and hexadecimal digits in lower case", p.Prefix)
	}
	out, err := ReadRollups(p.Out)
	if err != nil {
		return nil, err
	}
	lake, id, err := ReadLake(p.Lake)
	if err != nil || lake == nil {
		return nil, errors.Join(err, fmt.Errorf("%s does not hold a complete lake", p.Lake))
	}
	if out.Lake != id {
		return nil, fmt.Errorf("the rollups in %s are of the lake %s, and %s is %s: compute them again", p.Out, out.Lake, p.Lake, id)
	}
	spill, err := os.MkdirTemp("", "pmx-proof-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(spill)) }()
	db, err := sql.Open("duckdb", "?"+url.Values{"memory_limit": {p.Memory}, "temp_directory": {spill}}.Encode())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // the views and tables are those of one connection's database
	r := &proofRun{ctx: ctx, db: db, of: 4 + len(ownTables), step: p.Step}
	var shards []string
	for _, dataset := range []string{export.WalletShards, export.TokenShards} {
		if slices.ContainsFunc(lake.Files, func(f export.LakeFile) bool { return f.Dataset == dataset }) {
			shards = append(shards, dataset)
		}
	}
	r.of += len(shards)
	r.see(p.Lake, "lake_", lake.Files)
	r.see(p.Out, "p_", out.Files)
	r.sums(Days(lake.Files), lake)
	for _, dataset := range shards {
		r.check(dataset, proofs.Get("Shards", "@shards", "lake_"+dataset, "@length", strconv.FormatInt(export.ShardDays*86_400_000_000, 10)))
	}
	r.check("grain_sums", proofs.Get("Grains"))
	r.check("zero_sum_markets", proofs.Get("ZeroSum"))
	r.wallets(p.Prefix)
	return r.checks, r.err
}

// proofRun is one proof; err is its first error, after which nothing is done.
type proofRun struct {
	ctx    context.Context
	db     *sql.DB
	step   func(string, int, int)
	of     int
	checks []rollups.Check
	err    error

	published map[string][]string // files by table; one without rows has none
}

func (r *proofRun) exec(query string) {
	if r.err == nil {
		_, r.err = r.db.ExecContext(r.ctx, query)
	}
}

func (r *proofRun) tell(name string) {
	if r.step != nil && r.err == nil {
		r.step(name, min(len(r.checks), r.of), r.of)
	}
}

func (r *proofRun) check(name, query string) {
	r.tell(name)
	if r.err != nil {
		return
	}
	c := rollups.Check{Name: name, Detail: "what was published does not follow from the lake"}
	if r.err = r.db.QueryRowContext(r.ctx, query).Scan(&c.Rows, &c.Bad); r.err != nil {
		r.err = fmt.Errorf("%s: %w", name, r.err)
	}
	c.OK = c.Bad == 0
	r.checks = append(r.checks, c)
}

// see makes a view of each dataset of a folder, after comparing each of its files with the
// manifest.
func (r *proofRun) see(dir, prefix string, files []export.LakeFile) {
	r.tell("files of " + dir)
	paths := map[string][]string{}
	for _, f := range files {
		if r.err == nil {
			r.err = errors.Join(r.ctx.Err(), CheckFile(dir, f, true))
		}
		path := filepath.ToSlash(filepath.Join(dir, filepath.FromSlash(f.Name)))
		paths[f.Dataset] = append(paths[f.Dataset], "'"+strings.ReplaceAll(path, "'", "''")+"'")
	}
	for dataset, of := range paths {
		r.exec(proofs.Get("ViewOfFiles", "@view", prefix+dataset, "@files", strings.Join(of, ", ")))
	}
	if prefix != "lake_" {
		r.published = paths
		if len(paths["redemption"]) == 0 {
			r.exec(proofs.Get("NoRedemptions"))
		}
		return
	}
	r.exec(proofs.Get("AllFills"))
	for dataset, columns := range map[string]string{"conditions": "'' AS condition_id, '' AS event_slug, '' AS event_id, '' AS category",
		"resolutions": "'' AS condition_id, []::DECIMAL(18, 6)[] AS payouts"} {
		if len(paths[dataset]) == 0 {
			r.exec(proofs.Get("NoDataset", "@dataset", dataset, "@columns", columns))
		}
	}
}

// sums compares the days of wallets and of tokens with the lake's sums of each day.
func (r *proofRun) sums(days []rollups.PublishedDay, lake *Lake) {
	shares := map[string]int64{}
	for _, f := range lake.Files {
		if f.Sums != nil {
			shares[f.Day] = f.Sums.BuyShares + f.Sums.SellShares
		}
	}
	row := func(n ...int64) string {
		texts := make([]string, len(n))
		for i := range n {
			texts[i] = strconv.FormatInt(n[i], 10)
		}
		return "(" + strings.Join(texts, ", ") + ")"
	}
	var ofWallets, ofTokens []string
	for _, d := range days {
		ofWallets = append(ofWallets, row(d.Day, d.Fills, d.BuyUSD, d.SellUSD, d.FeeUSD))
		date := time.Unix(d.Day*86_400, 0).UTC().Format(time.DateOnly)
		ofTokens = append(ofTokens, row(d.Day, d.Fills, d.BuyUSD+d.SellUSD, shares[date]))
	}
	if len(days) == 0 {
		r.err = errors.Join(r.err, errors.New("the lake has no fills"))
		return
	}
	r.check("sums_of_days", proofs.Get("WalletDays", "@days", strings.Join(ofWallets, ", ")))
	r.check("sums_of_token_days", proofs.Get("TokenDays", "@days", strings.Join(ofTokens, ", ")))
}

// wallets recomputes everything about some wallets.
func (r *proofRun) wallets(prefix string) {
	r.exec(proofs.Get("FillsOfWallets", "@prefix", prefix))
	all, err := Statements()
	r.err = errors.Join(r.err, err)
	for _, s := range all {
		kind := "TABLE"
		if s.Kind == View {
			kind = "VIEW"
		}
		r.exec(proofs.Get("Relation", "@kind", kind, "@name", s.Name, "@query", s.SQL))
	}
	for _, table := range ownTables {
		if len(r.published[table]) == 0 {
			r.exec(proofs.Get("NothingPublished", "@table", table))
		}
		columns := strings.Join(r.columns(table), ", ")
		r.check("prefix_"+table, proofs.Get("SomeWallets", "@table", table, "@columns", columns, "@prefix", prefix))
	}
}

// columns are the columns of a table that was computed here.
func (r *proofRun) columns(table string) (names []string) {
	if r.err != nil {
		return nil
	}
	rows, err := r.db.QueryContext(r.ctx, proofs.Get("NoRows", "@table", table))
	if err != nil {
		r.err = err
		return nil
	}
	names, err = rows.Columns()
	r.err = errors.Join(err, rows.Close(), rows.Err())
	return names
}
