package main

import (
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"path/filepath"
	"time"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// exported are the tables for PostgreSQL, with the statements that copy them: the facts, and the
// names of their tokens and markets. From these, PostgreSQL makes positions and daily sums as one
// would by hand.
var exported = map[string]string{"fills": "PostgresFills", "tokens": "PostgresTokens", "markets": "PostgresMarkets"}

// rivalSchema are the statements that create and fill the tables, with the indexes that the reads
// need.
var rivalSchema = []string{
	"CreateFills", "CreateTokens", "CreateMarkets", "CopyFills", "CopyTokens", "CopyMarkets", "CreatePosition", "CreateDay",
	"IndexFills", "IndexPosition", "IndexDay", "IndexTokens", "IndexMarkets", "Analyze",
}

// walletReads are the endpoints of one wallet, each with the statement that returns the same rows
// from PostgreSQL.
var walletReads = []struct{ what, path, rival string }{
	{"trades", "/trades", "Trades"},
	{"markets", "/markets", "Markets"},
	{"daily activity", "/activity/daily", "Days"},
}

// wallets measures the endpoints of random wallets, compared with PostgreSQL with B-tree indexes on
// the same rows.
func (b *bench) wallets() error {
	rival, err := b.rivalWallets()
	if errors.Is(err, errNoPostgres) {
		b.add("one wallet's trades, markets, days", "", "skipped: "+err.Error(), "", "≥ 1.00")
	} else if err != nil {
		return err
	}
	if rival != nil {
		defer func() { _ = rival.stop() }()
	}
	began := time.Now()
	s, err := b.serve("large")
	if err != nil {
		return err
	}
	s.keeper.Settle()
	snap := s.keeper.Snapshot()
	file := s.keeper.WalletStats()
	b.add("segments in wallet order: bytes per fill, time to build", fmt.Sprintf("%.1f B, %s", float64(file.Bytes)/float64(max(file.Stored, 1)),
		time.Since(began).Round(100*time.Millisecond)), "", "", "≤ 45 B")
	tokens, texts := s.keeper.MarketStats()
	b.add("segments of newest fills and of market texts, built in the same time", fmt.Sprintf("%s fills, %.1f B each; %s markets, %.0f B each",
		count(tokens.Stored), float64(tokens.Bytes)/float64(max(tokens.Stored, 1)), count(texts.Stored), float64(texts.Bytes)/float64(max(texts.Stored, 1))), "", "", "")
	for _, r := range walletReads {
		if err := b.walletRead(s, rival, r.what, randomWallets(snap, r.path, 1), r.rival, snap.Wallets()); err != nil {
			return errors.Join(err, s.close())
		}
	}
	return s.close()
}

// randomWallets are paths of an endpoint for random wallets.
func randomWallets(snap *serving.Snapshot, path string, seed uint64) []string {
	rng := mrand.New(mrand.NewPCG(seed, 2))
	paths := make([]string, 100_000)
	for i := range paths {
		paths[i] = wire.Base + "/trader/" + snap.WalletAt(data.WalletID(rng.IntN(snap.Wallets()))).String() + path
	}
	return paths
}

// walletRead measures both in turns.
func (b *bench) walletRead(s *service, rival *postgres, what string, paths []string, name string, wallets int) error {
	var ours, theirs []float64
	ratioText, against := "", ""
	text := ""
	for range 3 {
		o, err := s.ask(b.ctx, paths)
		if err != nil {
			return err
		}
		ours = append(ours, o.PerSecond)
		text = fmt.Sprintf("p50 %s, p99 %s, %s B", short(o.P50), short(o.P99), count(o.Bytes/max(o.Requests, 1)))
		if rival == nil {
			continue
		}
		rate, p50, p99, err := rival.ask(b.ctx, name, b.Conns, wallets)
		if err != nil {
			return err
		}
		theirs = append(theirs, rate)
		against = fmt.Sprintf(", p50 %s, p99 %s", short(p50), short(p99))
	}
	o := middle(ours)
	if rival != nil {
		r := middle(theirs)
		against = "PostgreSQL " + count(int64(r)) + "/s" + against
		ratioText = ratio(o, r)
	}
	b.add(what+" of random wallets over HTTP, "+count(b.Fills)+" fills", count(int64(o))+"/s, "+text, against, ratioText, "≥ 1.00, p99 ≤ 2 ms")
	return nil
}

// rivalWallets returns a cluster with the same rows.
func (b *bench) rivalWallets() (*postgres, error) {
	p, err := startPostgres(b.ctx, b.Buffers)
	if err != nil {
		return nil, err
	}
	if err := b.fillRival(p); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

func (b *bench) fillRival(p *postgres) error {
	db, err := duck("", "2GB")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if err := execAll(b.ctx, db, "ATTACH '"+b.path("large", "pmx.duckdb")+"' AS p (READ_ONLY)", "USE p"); err != nil {
		return err
	}
	for name, query := range exported {
		if err := execAll(b.ctx, db, duckStatements.Get("CopyCSV", "@query", duckStatements.Get(query), "@file", filepath.Join(p.dir, name+".csv"))); err != nil {
			return err
		}
	}
	for _, stmt := range texts(postgresStatements, rivalSchema, "@dir", p.dir) {
		if err := p.sql(b.ctx, stmt); err != nil {
			return fmt.Errorf("%.40s…: %w", stmt, err)
		}
	}
	return nil
}
