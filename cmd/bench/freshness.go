package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pmx/http/wire"
)

const (
	freshRows   = 10_000
	freshSpan   = 216 // seconds in which a venue with 4 million fills a day has that many
	freshRounds = 7
)

// fresh measures the time from a file with 10k new fills to the first HTTP response with them, at
// both sizes.
func (b *bench) fresh() error {
	small, err := b.freshAt("small")
	if err != nil {
		return err
	}
	large, err := b.freshAt("large")
	if err != nil {
		return err
	}
	b.keep(b.Small, "fresh_ms", milliseconds(small))
	b.keep(b.Fills, "fresh_ms", milliseconds(large))
	b.add("10k new fills visible over HTTP at "+count(b.Fills), large.Round(time.Millisecond).String(),
		"at "+count(b.Small)+": "+small.Round(time.Millisecond).String(), ratio(large.Seconds(), small.Seconds()),
		"≤ 250 ms at 100M, ≤ 1.3 of 10M")
	return nil
}

func (b *bench) freshAt(name string) (time.Duration, error) {
	s, err := b.serve(name)
	if err != nil {
		return 0, err
	}
	if err := s.settle(b.ctx); err != nil {
		return 0, errors.Join(err, s.close())
	}
	var took []time.Duration
	for round := range freshRounds {
		d, err := b.freshRound(s, round)
		if err != nil {
			return 0, errors.Join(err, s.close())
		}
		took = append(took, d)
	}
	fmt.Fprintf(os.Stderr, "  %s: %v\n", name, took)
	return median(took[1:]), s.close()
}

// settleTime is the maximum time until a server has done what it does after a start.
const settleTime = 5 * time.Minute

// settle waits until the server has done the work that follows a start, which is not part of an import: that of
// the keeper, and the first reading of the leaderboards that no snapshot ranks.
func (s *service) settle(ctx context.Context) error {
	s.keeper.Settle()
	return s.awaitLeaderboards(ctx)
}

// awaitLeaderboards waits until the rows of all leaderboards were read, which takes longer than a request waits if the
// venue is large or the machine is busy.
func (s *service) awaitLeaderboards(ctx context.Context) error {
	for until := time.Now().Add(settleTime); ; time.Sleep(10 * time.Millisecond) {
		err := s.read(wire.Base+"/leaderboard/traders?min_resolved=1&limit=1", s.keys[0], new(struct{}))
		if !errors.Is(err, errBusy) || ctx.Err() != nil || time.Now().After(until) {
			return errors.Join(ctx.Err(), err)
		}
	}
}

func (b *bench) freshRound(s *service, round int) (time.Duration, error) {
	file := filepath.Join(s.keeper.DB().Dir().Exports(), "fresh.csv")
	err := s.keeper.DB().Write(b.ctx, func(conn *sql.Conn) error {
		query := duckStatements.Get("FreshFills", "@span", fmt.Sprint(freshSpan), "@rows", fmt.Sprint(freshRows), "@round", fmt.Sprint(round, time.Now().UnixNano()),
			"@file", file)
		_, err := conn.ExecContext(b.ctx, query)
		return err
	})
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.Remove(file) }()
	before := s.keeper.Snapshot().Epoch
	took, err := timed(func() error {
		res, err := importFiles(b.ctx, s.keeper, file)
		if err != nil {
			return err
		}
		if res.Receipts[0].Inserted != freshRows {
			return fmt.Errorf("inserted %d fills, want %d", res.Receipts[0].Inserted, freshRows)
		}
		return s.waitVisible(before)
	})
	return took, err
}

// waitVisible requests a leaderboard and checks that the response has a later epoch.
func (s *service) waitVisible(before uint64) error {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.SetRequestURI("http://" + s.addr + "/api/v3/leaderboard/traders")
	req.Header.Set("X-API-Key", s.keys[0])
	if err := fasthttp.Do(req, res); err != nil {
		return err
	}
	want := s.keeper.Snapshot().AsOf.Format(time.RFC3339)
	if res.StatusCode() != 200 || !strings.Contains(string(res.Body()), want) || s.keeper.Snapshot().Epoch == before {
		return fmt.Errorf("the response, with status %d, does not have the new fills", res.StatusCode())
	}
	return nil
}
