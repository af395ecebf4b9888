package api_test

import (
	"testing"
	"time"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

func TestNewestTrades(t *testing.T) {
	v := marketVenue(t)
	snap := v.source.Snapshot()
	read := func(tier access.Tier, query string) wire.NewestTrades {
		t.Helper()
		return exact[wire.NewestTrades](t, v.get(tier, "/trades/newest"+query).Body())
	}
	if got := read(access.Alpha, ""); got.Reception != "off" || len(got.Data) != 0 || got.SilentSince != nil {
		t.Errorf("without reception: %+v", got)
	}
	v.newest = &serving.NewestTrades{}
	v.restart()
	m := snap.Catalog.Market(0)
	token := snap.Catalog.Token(snap.Catalog.Tokens(m.ID)[1])
	final := snap.AsOf.Unix()
	known := serving.NewestTrade{Wallet: snap.WalletAt(1), Condition: m.Condition, Token: token.ID, Side: data.Sell, Shares: 1_464_786, Price: 710_000, Tx: data.Hash{7}, At: final + 2,
		Received: start, Source: serving.NewestOfChannel}
	foreign := serving.NewestTrade{Wallet: data.Address{9}, Condition: data.Hash{0xee}, Token: "77", Shares: 5, Price: 1, At: final + 3, Received: start, Source: serving.NewestOfList}
	old := known
	old.At, old.Tx = final, data.Hash{8}
	for _, trade := range []serving.NewestTrade{known, foreign, old} {
		v.newest.Add(trade)
	}
	v.newest.SetCoverage(serving.NewestCoverage{State: serving.NewestLive})
	got := read(access.Alpha, "")
	if got.Reception != "live" || len(got.Data) != 2 {
		t.Fatalf("got %+v", got)
	}
	if f := got.Data[0]; f.TokenID != "77" || f.Question != nil || f.Outcome != nil || f.TransactionHash != nil || f.ReceivedFrom != "list" || *f.ConditionID != foreign.Condition.String() || f.USD != 0 {
		t.Errorf("of an unknown market: %+v", f)
	}
	if k := got.Data[1]; *k.Question != m.Question || *k.OutcomeIndex != 1 || *k.Outcome != "No" || *k.Username != "Ann" || k.Side != "SELL" || k.USD != 1_039_998 || !k.TS.Equal(time.Unix(final+2, 0)) || k.ReceivedFrom != "channel" {
		t.Errorf("%+v", k)
	}
	if got := read(access.Alpha, "?market_id="+m.Condition.String()); len(got.Data) != 1 || got.Data[0].TokenID != token.ID {
		t.Errorf("of a market: %+v", got.Data)
	}
	if got := read(access.Alpha, "?market_id="+(data.Hash{0xab}).String()); len(got.Data) != 0 || got.Reception != "live" {
		t.Errorf("of a market without trades: %+v", got)
	}
	if got := read(access.Alpha, "?limit=1"); len(got.Data) != 1 || got.Truncated {
		t.Errorf("one: %+v", got)
	}
	tag := v.get(access.Alpha, "/trades/newest").header("ETag")
	if r := v.get(access.Alpha, "/trades/newest", "If-None-Match: "+tag); r.status != 304 || r.header("Cache-Control") != "private, max-age=1" {
		t.Errorf("%d, %s", r.status, r.header("Cache-Control"))
	}
	v.newest.SetCoverage(serving.NewestCoverage{State: serving.NewestSilent, Since: start.Add(-time.Minute)})
	if got := read(access.Alpha, ""); got.Reception != "silent" || got.SilentSince == nil || !got.SilentSince.Equal(start.Add(-time.Minute)) {
		t.Errorf("silent: %+v", got)
	}
	if r := v.get(access.Alpha, "/trades/newest", "If-None-Match: "+tag); r.status != 200 {
		t.Errorf("the tag stays though nothing is received: %d", r.status)
	}
}
