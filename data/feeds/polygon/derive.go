package polygon

import (
	"slices"

	"pmx/data"
	"pmx/data/chain"
)

// mostSiblings is how many conditions an event may have whose payouts are derived: protocol V1
// allowed a quarter as many.
const mostSiblings = 1024

// Why payouts do not follow from a log that says that they do. The data API tells them.
const (
	noWinner   = "remaining_without_winner" // the log that says which condition pays yes is not of the transaction
	otherWins  = "remaining_of_other"       // whether the event was taken over from protocol V1 cannot be told
	manyRemain = "remaining_of_many"
	noneRemain = "winner_without_remaining" // a condition pays yes, and the log of its event is missing
)

// remaining hands on what follows from the log that an event of protocol V2 is decided. It comes
// in the transaction in which one of its conditions is reported to pay yes, by the same contract:
// then every other condition, and "other", pays no where nothing else was stored of it. Of an
// event that was taken over from protocol V1, whose transaction says so, that is true of "other"
// alone: the payouts of the others are those of V1 once somebody takes them over.
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

// undecided notes conditions that pay yes, of an event with several, where the log that says so of
// the event is missing: then the payouts of the others do not follow.
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
