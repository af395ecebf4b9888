package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	freshRows   = 10_000
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
	s.keeper.Settle() // the work at the start of a server is not part of an import
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

func (b *bench) freshRound(s *service, round int) (time.Duration, error) {
	file := filepath.Join(s.keeper.DB().Dir().Exports(), "fresh.csv")
	err := s.keeper.DB().Write(b.ctx, func(conn *sql.Conn) error {
		query := duckStatements.Get("FreshFills", "@later", "600000000", "@rows", fmt.Sprint(freshRows), "@round", fmt.Sprint(round, time.Now().UnixNano()),
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
