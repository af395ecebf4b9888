package main

import (
	"fmt"
	"io"

	"pmx/data/upstream/dataapi"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

// tradesLane follows the venue's list of trades if there is no provider of the chain.
const tradesLane = "trades"

// addTrades adds the venue's list of trades, of the markets that are followed.
func (f *followFlags) addTrades(to *follower, k *keeper.Keeper) {
	list := to.dataAPI.Caller() // made by the lane of the markets, which exists
	to.trades = follow.NewTrades(follow.TradesOptions{Venue: k, Data: dataapi.New(list), Log: to.log})
	to.lanes = append(to.lanes, lane{tradesLane, to.trades.Run, to.trades.Once})
	to.tells.Add(func() []serving.Source { s := to.trades.Status(); return []serving.Source{s.Tell()} })
	to.tells.Asks(tradesLane, list)
}

// printTrades writes the row of the list of trades.
func printTrades(w io.Writer, t *follow.TradesStatus) {
	if t == nil {
		return
	}
	fills := count(t.Fills, "fill") + " of " + count(int64(t.Markets), "market")
	if t.Phase == follow.Stopped { // there are no counts
		fills = ""
	}
	_, _ = fmt.Fprintf(w, "trades\t%s\t%s\t\tincomplete\t%s\t\t%s\n", t.Phase, atOrNever(t.AsOf), fills, visible(t.Error, ""))
}
