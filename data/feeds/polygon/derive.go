package polygon

import (
	"slices"

	"pmx/data"
	"pmx/data/chain"
)

// mostSiblings is how many conditions an event may have whose payouts are derived: protocol V1
// allowed a quarter as many.
const mostSiblings = 1024

// Reasons why payouts cannot be derived from a log that says that they follow. The data API has
// them.
const (
	noWinner   = "remaining_without_winner" // the log that says which condition pays yes is not in the transaction
	otherWins  = "remaining_of_other"       // whether the event was migrated from protocol V1 is not known
	manyRemain = "remaining_of_many"
	noneRemain = "winner_without_remaining" // a condition pays yes, and the log of its event is missing
)

// remaining passes on what follows from the log that an event of protocol V2 is decided. It is in
// the transaction in which the same contract reports that one of its conditions pays yes: then
// every other condition, and "other", pays no unless something else was stored for it. For an event
// that was migrated from protocol V1, as the transaction says, this holds only for "other": the
// others get the payouts of V1 once somebody migrates them.
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

// undecided notes conditions that pay yes in an event with several, if the log about the event is
// missing: then the payouts of the others do not follow.
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
