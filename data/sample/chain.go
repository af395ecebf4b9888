package sample

import (
	"encoding/binary"
	"time"

	"pmx/data"
)

// Blocks are 2 seconds apart before this one and 1.5 seconds apart from it on. Times are within
// days of those of real blocks.
const (
	swiftBlock = 85_925_716
	swiftSince = 1_777_593_600 // 2026-05-01, unix seconds
)

// Days on which the venue's contracts changed, unix seconds. A venue with Config.Chain follows
// them.
const (
	secondExchanges = 1_777_334_400 // 2026-04-28
	secondProtocol  = 1_793_577_600 // 2026-11-02: markets listed since are of protocol V2
)

// Contracts of the venue on Polygon since it left the first exchanges
// (github.com/Polymarket/ctf-exchange-v2).
const (
	plainExchange2   = "0xe111180000d2663c0091e4f400237545b87b996b"
	negRiskExchange2 = "0xe2222d279d744050d28e00520010520000310f59"
	exchange3        = "0xe3333700ca9d93003f00f0f71f8515005f6c00aa"
)

// BlockAt returns the newest block at a given time.
func BlockAt(at time.Time) int64 {
	ms := at.UnixMilli() - swiftSince*1000
	if ms < 0 {
		return swiftBlock + (ms-1999)/2000
	}
	return swiftBlock + ms/1500
}

// BlockTime returns the time of a block in whole unix seconds, as its header has it.
func BlockTime(block int64) int64 {
	n := block - swiftBlock
	if n < 0 {
		return swiftSince + 2*n
	}
	return swiftSince + n*3/2
}

// BlockOf returns the first block whose time is second or later.
func BlockOf(second int64) int64 {
	s := second - swiftSince
	if s < 0 {
		return swiftBlock + s/2
	}
	return swiftBlock + (2*s+2)/3
}

// onBlock returns the time of the newest block at or before second if the venue is on a chain, and
// second itself otherwise.
func (c Config) onBlock(second int64) int64 {
	if !c.Chain || BlockTime(BlockOf(second)) == second {
		return second
	}
	return second - 1
}

// contract returns the exchange that matches orders of a market at a given time.
func (c Config) contract(e *event, at int64) string {
	switch {
	case e.positions:
		return exchange3
	case c.Chain && at >= secondExchanges && e.negRisk:
		return negRiskExchange2
	case c.Chain && at >= secondExchanges:
		return plainExchange2
	case e.negRisk:
		return negRiskExchange
	}
	return plainExchange
}

// Modules of protocol V2: the first byte of the ids of their conditions.
const (
	binaryModule  = 1
	negRiskModule = 2
)

// position returns the id of a condition of protocol V2, which is also that of its first outcome:
// module, hash of the event, number of conditions, reserved, chain, condition, outcome.
func (m *market) position(seed uint64) (id data.Hash) {
	e := m.event
	id[0] = binaryModule
	fill(id[1:17], seed, streamCondition, uint64(m.id))
	conditions, place := 1, 0
	if e.negRisk {
		id[0], conditions, place = negRiskModule, len(e.markets), m.leg
		fill(id[1:17], seed, streamNegRisk, uint64(e.id))
	}
	binary.BigEndian.PutUint16(id[17:], uint16(conditions))
	binary.BigEndian.PutUint16(id[27:], 137) // Polygon
	binary.BigEndian.PutUint16(id[29:], uint16(place))
	return id
}
