package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/feeds/polygon"
	"pmx/engine"
	"pmx/engine/control"
	"pmx/engine/guard"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"
	"pmx/rollups/replica"
)

const (
	// replicaFills is the number of new fills in each state.
	replicaFills  = 100
	replicaRounds = 12
	// replicaPatience is the maximum time until a state is served.
	replicaPatience = 5 * time.Minute
)

// replica measures the time from a commit until a replica in this process serves it, and the cost
// for both.
func (b *bench) replica() (err error) {
	engine.AddSpareProcs()
	ctx, cancel := context.WithCancel(b.ctx)
	log := zerolog.New(os.Stderr).Level(zerolog.WarnLevel)
	writer, err := open(ctx, b.path("large"), true)
	if err != nil {
		cancel()
		return err
	}
	defer func() { err = errors.Join(err, writer.Close()) }()
	writer.Settle()
	keys, err := control.Open(ctx, writer.DB().Dir().Control(), time.Now)
	if err != nil {
		cancel()
		return err
	}
	defer func() { err = errors.Join(err, keys.Close()) }()
	dir := engine.Dir(b.path("replica"))
	if err := errors.Join(os.RemoveAll(b.path("published")), os.RemoveAll(string(dir)), dir.Create()); err != nil {
		cancel()
		return err
	}
	publishing := guard.Start(func() error { return writer.Publish(ctx, b.path("published"), "bench", keys) })
	defer func() { cancel(); err = errors.Join(err, <-publishing) }()
	own, err := control.Open(ctx, dir.Control(), time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, own.Close()) }()
	var reader *keeper.Keeper
	follower, err := replica.New(replica.Config{Repo: b.path("published"), Dir: dir, Keys: own, Log: log,
		Settings: func(engine.Dir) (map[data.Address]bool, *data.Gazetteer, error) { return nil, nil, nil },
		Open: func(ctx context.Context, s replica.State) (replica.Server, error) {
			var err error
			reader, err = keeper.OpenReplica(ctx, keeper.Config{Engine: engine.Options{Dir: dir}, Feeds: feeds.Catalog{}, Log: log, Serve: true}, s)
			return reader, err
		}})
	if err != nil {
		return err
	}
	if err := follower.Begin(ctx); err != nil {
		return errors.Join(err, follower.Close())
	}
	defer func() { err = errors.Join(err, reader.Close(), follower.Close()) }()
	reader.Settle()
	following := guard.Start(func() error { return follower.Run(ctx) })
	defer func() { cancel(); err = errors.Join(err, <-following) }()
	return b.replicaRounds(writer, reader)
}

func (b *bench) replicaRounds(writer, reader *keeper.Keeper) error {
	fills, err := b.newest(writer, replicaFills*replicaRounds)
	if err != nil {
		return err
	}
	var commits, served, worked []time.Duration
	for round := range replicaRounds {
		at := writer.Snapshot().AsOf.UnixMicro() + 1_500_000
		part := slices.Clone(fills[round*replicaFills:][:replicaFills])
		for i := range part {
			part[i].TS, part[i].Tx, part[i].LogIndex = at, txOf(at, i), int32(i)
		}
		processor := processorTime()
		commit, err := timed(func() error {
			_, err := writer.Commit(b.ctx, ingest.Rows{Feed: polygon.Feed(), Name: "bench", Read: rowsOf(part)}, ingest.Remaining{})
			return err
		})
		if err != nil {
			return err
		}
		committed := time.Now()
		for reader.Snapshot().AsOf.UnixMicro() != at {
			if time.Since(committed) > replicaPatience {
				return fmt.Errorf("the replica serves %v after %v", reader.Snapshot().AsOf, replicaPatience)
			}
			if err := guard.Sleep(b.ctx, time.Millisecond); err != nil {
				return err
			}
		}
		commits, served, worked = append(commits, commit), append(served, time.Since(committed)), append(worked, processorTime()-processor)
	}
	b.add(fmt.Sprintf("commit of %d fills until a replica serves them, at %s", replicaFills, count(b.Fills)), percentiles(served[1:]),
		fmt.Sprintf("the commit %s; processor time of both %s", percentiles(commits[1:]), percentiles(worked[1:])), "", "≤ 2 s at 20M")
	return nil
}
