//go:build linux

package main

import (
	"fmt"

	"pmx/data"
	"pmx/data/feeds"
)

// receipt is the part of the output of pmx import --json that is checked.
type receipt struct {
	File         string           `json:"file"`
	Feed         string           `json:"feed"`
	Read         int64            `json:"read"`
	Inserted     int64            `json:"inserted"`
	AlreadyThere int64            `json:"already_there"`
	Identical    int64            `json:"identical"`
	Superseded   int64            `json:"superseded"`
	Waiting      int64            `json:"waiting"`
	Rejected     map[string]int64 `json:"rejected"`
	Passed       map[string]int64 `json:"passed"`
	PayoutRows   int64            `json:"payout_rows"`
	MarketsNew   int64            `json:"markets_new"`
	MarketsChg   int64            `json:"markets_changed"`
	TokensMapped int64            `json:"tokens_mapped"`
	Blocks       int64            `json:"blocks"`
	Forecasts    int64            `json:"forecasts"`
	Actuals      int64            `json:"actuals"`
	Observations int64            `json:"observations"`
	Normals      int64            `json:"normals"`
	Lines        struct {
		Total     int64 `json:"total"`
		Records   int64 `json:"records"`
		Continued int64 `json:"continued"`
		Header    int64 `json:"header"`
		Blank     int64 `json:"blank"`
		Remarks   int64 `json:"remarks"`
	} `json:"lines"`
}

// accounted reports whether every row and every line of the file is counted exactly once.
func (r *receipt) accounted() error {
	f, err := feeds.ByName(r.Feed)
	if err != nil {
		return err
	}
	sum := r.AlreadyThere + r.Identical + r.Superseded + r.Waiting + total(r.Rejected) + total(r.Passed)
	switch f.Kind {
	case data.KindFills:
		sum += r.Inserted + r.PayoutRows
	case data.KindWeather:
		sum += r.Forecasts + r.Actuals + r.Observations + r.Normals
	case data.KindReference:
		sum += r.TokensMapped + r.Blocks
	default:
		sum += r.MarketsNew + r.MarketsChg
	}
	l := r.Lines
	switch lines := l.Records + l.Continued + l.Header + l.Blank + l.Remarks; {
	case sum != r.Read:
		return fmt.Errorf("%d rows are read, and %d accounted for", r.Read, sum)
	case l.Total != 0 && lines != l.Total:
		return fmt.Errorf("of %d lines, %d are accounted for", l.Total, lines)
	}
	return nil
}

func total(counts map[string]int64) int64 {
	n := int64(0)
	for _, c := range counts {
		n += c
	}
	return n
}
