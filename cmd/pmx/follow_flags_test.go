package main

import (
	"strings"
	"testing"
)

// One address is used for every source, and nodes that are also named are kept.
func TestOneServerCanBeUsedForAllSources(t *testing.T) {
	f := followFlags{Contact: "me@example.org", RPCRate: 1, At: "http://127.0.0.1:8091/"}
	if err := f.check(""); err != nil {
		t.Fatal(err)
	}
	const base = "http://127.0.0.1:8091"
	for got, want := range map[string]string{
		strings.Join(f.RPC, " "): base + "/rpc/1 " + base + "/rpc/2", f.Gamma: base + "/gamma", f.CLOB: base + "/clob", f.DataAPI: base + "/data",
		f.Channel: "ws://127.0.0.1:8091/ws/market", f.Activity: "ws://127.0.0.1:8091/rtds", f.OpenMeteo: base + "/openmeteo", f.METAR: base + "/metar", f.NWS: base + "/nws",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	own := followFlags{Contact: "me@example.org", RPCRate: 1, At: base, RPC: []string{"http://127.0.0.1:1"}}
	if err := own.check(""); err != nil || len(own.RPC) != 1 {
		t.Errorf("own.RPC = %v, err = %v", own.RPC, err)
	}
	for _, at := range []string{"127.0.0.1:8091", "ws://127.0.0.1:8091", "http://", "::", "http://u:hushhush@", "http://u:hushhush@h:x", "http://h/?key=hushhush"} {
		bad := followFlags{Contact: "me@example.org", RPCRate: 1, At: at}
		if err := bad.check("sync-"); err == nil || !strings.Contains(err.Error(), "--sync-at") || strings.Contains(err.Error(), "hushhush") {
			t.Errorf("%s: %v", at, err)
		}
	}
	quotes := followFlags{Contact: "me@example.org", RPCRate: 1, Only: []string{quotesLane}}
	if err := quotes.check(""); err == nil || !strings.Contains(err.Error(), "name both") {
		t.Errorf("quotes alone: %v", err)
	}
}
