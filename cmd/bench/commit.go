package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"pmx/data"
	"pmx/data/feeds/polygon"
	"pmx/engine"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

// The sizes of the measured commits in fills, and the number of commits: as many as in a minute of
// a busy venue. The first ones load data that later ones find in memory.
var commitFills = []int{100, 300}

const (
	commitRounds = 40
	commitFirst  = 5
)

// commits measures how long a server takes to commit and serve a few hundred fills, as from a
// followed source.
func (b *bench) commits() error {
	engine.AddSpareProcs()
	var statements atomic.Int64
	k, err := openTraced(b.ctx, b.path("large"), true, func(string) { statements.Add(1) })
	if err != nil {
		return err
	}
	k.Settle() // the work at the start of a server is not part of a commit
	for _, n := range commitFills {
		if err := b.commitsOf(k, n, &statements); err != nil {
			return errors.Join(err, k.Close())
		}
	}
	return k.Close()
}

func (b *bench) commitsOf(k *keeper.Keeper, n int, statements *atomic.Int64) error {
	rounds := max(b.Ticks, commitFirst+1)
	fills, err := b.newest(k, n*min(rounds, commitRounds))
	if err != nil {
		return err
	}
	at, ran := k.Snapshot().AsOf.UnixMicro(), statements.Load()
	var took, worked []time.Duration
	for round := range rounds {
		at += 1_500_000
		from := round * n % len(fills)
		part := slices.Clone(fills[from : from+n])
		for i := range part { // later, and with different logs
			part[i].TS, part[i].Tx, part[i].LogIndex = at, txOf(at, i), int32(i)
		}
		epoch, processor := k.Snapshot().Epoch, processorTime()
		d, err := timed(func() error {
			r, err := k.Commit(b.ctx, ingest.Rows{Feed: polygon.Feed(), Name: "bench", Read: rowsOf(part)}, ingest.Remaining{})
			if err == nil && (r.Inserted != int64(n) || k.Snapshot().Epoch == epoch) {
				err = fmt.Errorf("%d fills of %d are served", r.Inserted, n)
			}
			return err
		})
		if err != nil {
			return err
		}
		if round >= commitFirst {
			took, worked = append(took, d), append(worked, processorTime()-processor)
		}
	}
	if n == commitFills[0] {
		b.keep(b.Fills, "commit_ms", milliseconds(median(took)))
	}
	b.add(fmt.Sprintf("commit of %d new fills until they are served, at %s", n, count(b.Fills)), percentiles(took),
		fmt.Sprintf("of processor time %s; %d statements", percentiles(worked), (statements.Load()-ran)/int64(rounds)), "", "")
	if len(worked) >= 2*commitRounds {
		b.add(fmt.Sprintf("the last %d of %d such commits, and the first", commitRounds, rounds), "processor time "+percentiles(worked[len(worked)-commitRounds:]),
			"processor time "+percentiles(worked[:commitRounds]), "", "")
	}
	return nil
}

func rowsOf(fills []data.Fill) func(context.Context, data.Sink) error {
	return func(_ context.Context, sink data.Sink) error {
		for i, f := range fills {
			if err := sink.Fill(int64(i+1), f); err != nil {
				return err
			}
		}
		return nil
	}
}

// newest returns the newest n fills of a venue, oldest first.
func (b *bench) newest(k *keeper.Keeper, n int) (fills []data.Fill, err error) {
	err = k.Read(b.ctx, func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(b.ctx, duckStatements.Get("NewestFills", "@rows", fmt.Sprint(n)))
		if err != nil {
			return err
		}
		for rows.Next() {
			f := data.Fill{Outcome: data.NoIndex}
			var address []byte
			if err := rows.Scan(&f.TS, &address, &f.TokenID, &f.Side, &f.Role, &f.Shares, &f.USD, &f.Fee); err != nil {
				return errors.Join(err, rows.Close())
			}
			f.Wallet = data.Address(address)
			fills = append(fills, f)
		}
		return errors.Join(rows.Err(), rows.Close())
	})
	if err == nil && len(fills) < n {
		err = fmt.Errorf("the venue has %d fills in its last ten days, %d are needed", len(fills), n)
	}
	return fills, err
}

// txOf returns a transaction hash that no other fill has.
func txOf(at int64, i int) data.Hash {
	return sha256.Sum256(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(at)), uint64(i/3)))
}
