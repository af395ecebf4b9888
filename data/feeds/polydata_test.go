package feeds_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"

	"pmx/data/testfiles"
)

func address(c byte) data.Address {
	var a data.Address
	for i := range a {
		a[i] = c
	}
	return a
}

func hash(c byte) data.Hash {
	var h data.Hash
	for i := range h {
		h[i] = c
	}
	return h
}

const maxToken = "115792089237316195423570985008687907853269984665640564039457584007913129639935"

// TestOrderFilledGivesTheMakersFill reads both events of a match of 1 token at 0.40, and one
// invalid row of every kind.
func TestOrderFilledGivesTheMakersFill(t *testing.T) {
	c := read(t, testfiles.Path("feeds", "orderFilled.csv"))
	want := []numbered{
		{Row: 1, Fill: data.Fill{Tx: hash(0x11), LogIndex: -1, TS: 1700000000_000000, Wallet: address(0xaa), Role: data.Maker,
			TokenID: maxToken, Side: data.Buy, Shares: 1_000_000, USD: 400_000, Outcome: -1}},
		{Row: 2, Fill: data.Fill{Tx: hash(0x11), LogIndex: -1, TS: 1700000000_000000, Wallet: address(0xbb), Role: data.Taker,
			TokenID: maxToken, Side: data.Sell, Shares: 1_000_000, USD: 400_000, Outcome: -1}},
		{Row: 3, Fill: data.Fill{Tx: hash(0x22), LogIndex: -1, TS: 1700000001_000000, Wallet: address(0xcc), Role: data.Maker,
			TokenID: "7", Side: data.Buy, Outcome: -1}},
		{Row: 11, Fill: data.Fill{LogIndex: -1, TS: 1700000008_000000, Wallet: address(0xcc), Role: data.Maker,
			TokenID: "7", Side: data.Buy, Shares: 9223372036854775807, USD: 9223372036854775807, Outcome: -1}},
	}
	if diff := cmp.Diff(want, c.fills); diff != "" {
		t.Errorf("fills (-want +got):\n%s", diff)
	}
	reasons := []rejected{{Line: 4, Reason: "bad_address"}, {Line: 5, Reason: "bad_time"},
		{Line: 6, Reason: "bad_side"}, {Line: 7, Reason: "bad_price"}, {Line: 8, Reason: "bad_token"},
		{Line: 9, Reason: "bad_row"}, {Line: 10, Reason: "bad_row"}, {Line: 12, Reason: "bad_hash"}, {Line: 13, Reason: "bad_address"}}
	if diff := cmp.Diff(reasons, c.rejects); diff != "" {
		t.Errorf("rejects (-want +got):\n%s", diff)
	}
}
