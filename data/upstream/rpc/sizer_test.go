package rpc

import (
	"testing"
)

// TestSizerGrowsAfterEightAnswers for full ranges: by a quarter each time, up to 6,000 logs or 4.8
// MB, which are 60 % of the limits.
func TestSizerGrowsAfterEightAnswers(t *testing.T) {
	s := NewSizer(0)
	want := func(blocks int64) {
		t.Helper()
		if s.Blocks() != blocks {
			t.Errorf("%d blocks, not %d", s.Blocks(), blocks)
		}
	}
	answered := func(times int, blocks, bytes, logs int64) {
		for range times {
			s.note(blocks, bytes, logs)
		}
	}
	want(32)
	answered(7, 32, 0, 0)
	answered(20, 31, 0, 0) // parts of a range do not count
	want(32)
	answered(1, 32, 0, 0)
	want(40)
	answered(7, 40, 0, 10)
	answered(1, 40, 0, 5500) // 40 · 6000/5500
	want(43)
	answered(8, 43, 5_000_000, 10) // 60 % of 8 MB are 5,033,164
	want(43)
	answered(8, 43, 4_000_000, 10)
	want(53)
	answered(1, 53, 0, 20_000) // twice the limit: 53 · 0.6/2
	want(15)
	answered(1, 1, 100<<20, 0)
	want(1)
	answered(8, 1, 0, 0)
	want(2)
}

// TestSizerShrinks to the provider's proposal, else to half, never below one, and does not return
// to a size that failed soon.
func TestSizerShrinks(t *testing.T) {
	s := NewSizer(1000)
	s.TooWide(1000, &TooWide{From: 1, To: 800})
	if s.Blocks() != 800 {
		t.Error(s.Blocks())
	}
	grow := func(times int) {
		for range times {
			s.note(s.Blocks(), 1, 1)
		}
	}
	grow(100)
	if s.Blocks() != 800 {
		t.Error("beyond what the provider proposed:", s.Blocks())
	}
	grow(412)
	if s.Blocks() != 1000 {
		t.Error("not tried again:", s.Blocks())
	}
	s.TooWide(1000, &TooWide{Logs: 2000})
	s.TooWide(1000, &TooWide{}) // of a request in flight
	if s.Blocks() != 500 {
		t.Error(s.Blocks())
	}
	grow(8)
	if s.Blocks() != 600 {
		t.Error("60 % of what failed:", s.Blocks())
	}
	s.note(600, 0, 2400) // of a maximum of 2,000: 600 · 0.6/1.2
	if s.Blocks() != 300 {
		t.Error(s.Blocks())
	}
	for range 20 {
		s.TooWide(s.Blocks(), &TooWide{})
	}
	if s.Blocks() != 1 {
		t.Error(s.Blocks())
	}
	s.TooWide(1, &TooWide{From: 5, To: 5})
	if s.Blocks() != 1 || NewSizer(-1).Blocks() != 32 {
		t.Error(s.Blocks())
	}
}
