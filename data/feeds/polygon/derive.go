package polygon

import (
	"slices"

	"pmx/data"
	"pmx/data/chain"
)

// mostSiblings is the maximum number of conditions of an event whose payouts are derived. Protocol
// V1 allowed a quarter as many.
const mostSiblings = 1024

// Reasons why payouts cannot be derived from a log about an event. Such payouts are in the data
// API.
const (
	noWinner   = "remaining_without_winner" // the log that says which condition pays yes is not in the transaction
	otherWins  = "remaining_of_other"       // it is unknown whether the event was migrated from protocol V1
	manyRemain = "remaining_of_many"
	noneRemain = "winner_without_remaining" // a condition pays yes, but the log of its event is missing
)

// remaining passes on the payouts that follow from the log that an event of protocol V2 is decided.
// In the same transaction, the same contract reports that one of the event's conditions pays yes.
// All other conditions, and "other", then pay no unless something else was stored for them. If the
// transaction says that the event was migrated from protocol V1, this holds only for "other": the
// other conditions get the payouts of V1 when they are migrated.
func (r *reader) remaining(e *entry, at int64, rows [][]entry) error {
	winner, migrated, found := 0, false, false
	for _, same := range rows {
		o := &same[0]
		group, number := chain.Group(o.Condition)
		if o.Emitter != e.Emitter || group != e.Condition {
			continue
		}
		switch {
		case o.Kind == chain.Migrated:
			migrated = true
		case o.paysYes():
			winner, found = number, true
		}
	}
	siblings := chain.Siblings(e.Condition, mostSiblings)
	why := ""
	switch {
	case !found:
		why = noWinner
	case siblings == nil:
		why = manyRemain
	case winner == len(siblings)-1:
		why = otherWins
	}
	if why != "" {
		r.sink.Note(why)
		return r.sink.Pass(e.Line, "remaining_conditions")
	}
	if migrated {
		siblings, winner = siblings[len(siblings)-1:], -1
	}
	for i, c := range siblings {
		if i == winner {
			continue
		}
		no := entry{stored: stored{Line: e.Line, Condition: c, Derived: true}, paid: []data.Micro{0, data.One}}
		if err := r.payouts(&no, at); err != nil {
			return err
		}
	}
	return nil
}

// paysYes reports whether a log stores that a condition of an event pays yes.
func (e *entry) paysYes() bool {
	return e.Kind == chain.Resolved && !e.Derived && len(e.paid) == 2 && e.paid[0] == data.One
}

// undecided counts conditions that pay yes in an event with several conditions if the log about the
// event is missing: the payouts of the others are then unknown.
func (r *reader) undecided(rows [][]entry) {
	for _, same := range rows {
		e := &same[0]
		if !e.paysYes() || !chain.InGroup(e.Condition) {
			continue
		}
		group, _ := chain.Group(e.Condition)
		if !slices.ContainsFunc(rows, func(o []entry) bool {
			return o[0].Kind == chain.Decided && o[0].Condition == group && o[0].Emitter == e.Emitter
		}) {
			r.sink.Note(noneRemain)
		}
	}
}
