package main

import (
	"fmt"
	"io"
	"time"

	"pmx/data/upstream/dataapi"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

// newestLane shows trades before they are final. Only a server needs it.
const newestLane = "newest"

// addNewest adds the newest trades, which are stored in to.shown.
func (f *followFlags) addNewest(to *follower, k *keeper.Keeper) error {
	host, err := f.data(to)
	if err != nil {
		return err
	}
	list := host.Caller()
	to.tells.Asks(newestLane, list)
	shown := &serving.NewestTrades{}
	newest, err := follow.NewNewest(follow.NewestOptions{Trades: shown, Data: dataapi.New(list), Channel: f.channel(f.Activity), Log: to.log,
		Final: func() time.Time {
			if s := k.Snapshot(); s != nil {
				return s.AsOf
			}
			return time.Time{}
		}})
	if err != nil {
		return err
	}
	to.newest, to.shown = newest, shown
	to.lanes = append(to.lanes, lane{newestLane, newest.Run, nil})
	to.tells.Add(func() []serving.Source { s := newest.Status(); return []serving.Source{s.Tell()} })
	return nil
}

// printNewest writes the row of the newest trades.
func printNewest(w io.Writer, n *follow.NewestStatus) {
	if n == nil {
		return
	}
	_, _ = fmt.Fprintf(w, "newest\t%s\t%s\t\t\t%s, %s received, %s from the list\t%d\t%s\n", n.Phase, atOrNever(n.AsOf), n.Coverage, thousands(n.Told), thousands(n.Listed), n.Bad,
		visible(n.Error, ""))
}
