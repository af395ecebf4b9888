package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/rs/zerolog"

	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/client"
	"pmx/http/server"
	"pmx/http/wire"
)

// serve runs a service with synthetic data and returns its address, a key and a function that stops
// it.
func serve() (base, key string, stop func()) {
	store := &apitest.Store{}
	key = store.Issue(access.Trader, 1)
	gate, err := access.NewGate(context.Background(), store, zerolog.Nop())
	if err != nil {
		log.Fatal(err)
	}
	a, err := api.New(api.Config{
		Source: apitest.NewSource(apitest.Snapshot(1, 10, 60)), Gate: gate, Version: "v1", CursorKey: make([]byte, 32), Now: time.Now,
	})
	if err != nil {
		log.Fatal(err)
	}
	s, err := server.New(server.Config{API: a, Listen: "127.0.0.1:0", Log: zerolog.Nop()})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	return s.URL() + wire.Base, key, func() {
		cancel()
		if err := <-done; err != nil {
			log.Fatal(err)
		}
	}
}

func Example() {
	base, key, stop := serve()
	defer stop()

	c := &client.Client{Base: base, Key: key}
	leaderboard, err := c.LeaderboardTraders(context.Background(), client.LeaderboardTradersParams{Period: "7d", Limit: 3})
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range leaderboard.Data {
		fmt.Println(row.Rank, *row.Username, row.RealPnL)
	}
	// Output:
	// 1 trader 0 60.00006
	// 2 trader 1 59.000059
	// 3 trader 2 58.000058
}

// Errors of the API say what to do, and have a code for programs.
func Example_problem() {
	base, key, stop := serve()
	defer stop()

	c := &client.Client{Base: base, Key: key}
	_, err := c.TraderStats(context.Background(), "0x00000000000000000000000000000000000000ff")
	var p *wire.Problem
	if errors.As(err, &p) && p.Code == "trader_not_found" {
		fmt.Println(p.Status, p.Detail)
	}
	// Output:
	// 404 No trade of this wallet is known. Check the address.
}

// An account says what the key may do, and how much of its limit is left.
func Example_account() {
	base, key, stop := serve()
	defer stop()

	c := &client.Client{Base: base, Key: key}
	me, err := c.Me(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(me.Data.Tier, me.Data.Limits.Rows, me.Data.Window.Remaining)
	// Output:
	// trader 200 999
}
