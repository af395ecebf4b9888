package chain

import (
	"encoding/binary"
	"math/bits"

	"pmx/data"
)

// The modules of protocol V2: the first byte of their ids.
const (
	binaryModule byte = 1
	negRisk      byte = 2
	combos       byte = 3
)

// An id of protocol V2 has these bytes: module 1, hash 16, number of conditions 2,
// reserved 8, chain 2, condition 2, outcome 1. With outcome 0 it is the condition's, with
// condition 0 too the event's.
const (
	atConditions = 17
	atReserved   = 19
	atCondition  = 29
	atOutcome    = 31
)

// position reads the condition of a token that is a position of protocol V2.
func (f *Fill) position() {
	switch module := f.Token[0]; {
	case module == combos: // it has several conditions, which are not in its id
		f.Odd = "combo"
	case module != binaryModule && module != negRisk:
		f.Odd = "unknown_module"
	case f.Token[atOutcome] > 1 || !reservedIsZero(f.Token):
		f.Odd = "odd_position"
	default:
		f.Condition, f.Outcome = f.Token, int(f.Token[atOutcome])
		f.Condition[atOutcome] = 0
	}
}

func reservedIsZero(id data.Hash) bool {
	return [8]byte(id[atReserved:atReserved+8]) == [8]byte{}
}

// conditionOf reports whether an id is that of a condition of the module.
func (c *Contract) conditionOf(id data.Hash) bool {
	return id[0] == c.Module && id[atOutcome] == 0 && reservedIsZero(id)
}

// resolution reads ConditionResolution: the number of outcomes, and a list of as many
// numerators, whose sum is the denominator.
func (d *Decoder) resolution(words []data.Hash) error {
	if d.event.Log.count != 4 || len(words) < 3 {
		return BadWords
	}
	outcomes, ok := amount(words[0])
	offset, okOffset := amount(words[1])
	length, okLength := amount(words[2])
	if !ok || !okOffset || !okLength || offset != 64 || length != outcomes || int(length) != len(words)-3 {
		return BadWords
	}
	return d.pays(d.event.Log.topics[1], words[3:], 0)
}

// resolved reads ConditionResolved: a list of two payouts in millionths.
func (d *Decoder) resolved(c *Contract, words []data.Hash) error {
	if d.event.Log.count != 2 || len(words) != 4 {
		return BadWords
	}
	offset, okOffset := amount(words[0])
	length, okLength := amount(words[1])
	if !okOffset || !okLength || offset != 32 || length != 2 {
		return BadWords
	}
	condition := d.event.Log.topics[1]
	if !c.conditionOf(condition) {
		return BadCondition
	}
	return d.pays(condition, words[2:], data.One)
}

// synthetic reads SyntheticConditionDerivableAsYes: the condition "other" pays yes, because no
// named condition of the event came true.
func (d *Decoder) synthetic(c *Contract, words []data.Hash) error {
	l := &d.event.Log
	if l.count != 3 || len(words) != 0 {
		return BadWords
	}
	event, condition := l.topics[1], l.topics[2]
	own, number := Group(condition)
	if !c.conditionOf(condition) || own != event || number != conditionsOf(event) {
		return BadCondition
	}
	d.payouts[0], d.payouts[1] = data.One, 0
	d.event.Kind, d.event.Resolution = Resolved, Resolution{condition, d.payouts[:2], true}
	return nil
}

// decided reads RemainingConditionsDerivableAsNo: a condition of the event pays yes.
func (d *Decoder) decided(c *Contract, words []data.Hash) error {
	l := &d.event.Log
	if l.count != 2 || len(words) != 0 {
		return BadWords
	}
	group := l.topics[1]
	if !c.conditionOf(group) || group[atCondition] != 0 || group[atCondition+1] != 0 || conditionsOf(group) < 2 {
		return BadCondition
	}
	d.event.Kind, d.event.Group = Decided, group
	return nil
}

// migrated reads MigrationResolved, whose payouts another log has.
func (d *Decoder) migrated(c *Contract, words []data.Hash) error {
	l := &d.event.Log
	if l.count != 3 || len(words) != 4 {
		return BadWords
	}
	if !c.conditionOf(l.topics[1]) {
		return BadCondition
	}
	d.event.Kind, d.event.Migrated = Migrated, l.topics[1]
	return nil
}

// conditionsOf is how many conditions an event of the negative-risk module has besides "other",
// according to its id.
func conditionsOf(id data.Hash) int { return int(binary.BigEndian.Uint16(id[atConditions:])) }

// InGroup reports whether an id looks like that of a condition of the negative-risk module, whose
// events have several.
func InGroup(condition data.Hash) bool {
	return condition[0] == negRisk && condition[atOutcome] == 0 && reservedIsZero(condition)
}

// Group returns the event of a condition of protocol V2 and the condition's number in it.
func Group(condition data.Hash) (event data.Hash, number int) {
	number = int(binary.BigEndian.Uint16(condition[atCondition:]))
	condition[atCondition], condition[atCondition+1] = 0, 0
	return condition, number
}

// Siblings are the conditions of an event of the negative-risk module, in the order of their
// numbers; the last one is "other". The event's id says how many there are, so this list is
// complete. It is empty if there are more than most.
func Siblings(event data.Hash, most int) (conditions []data.Hash) {
	n := conditionsOf(event)
	if n > most {
		return nil
	}
	for i := range n + 1 {
		binary.BigEndian.PutUint16(event[atCondition:], uint16(i))
		conditions = append(conditions, event)
	}
	return conditions
}

// pays reads the payouts of a condition. Their sum must be sum, if that is not 0.
func (d *Decoder) pays(condition data.Hash, numerators []data.Hash, sum data.Micro) error {
	if condition.IsZero() {
		return BadCondition
	}
	if len(numerators) < 2 {
		return BadPayout
	}
	total := uint64(0)
	for i, w := range numerators {
		n, ok := amount(w)
		if total += uint64(n); !ok || total>>63 != 0 {
			return BadPayout
		}
		d.payouts[i] = n
	}
	if total == 0 || sum != 0 && total != uint64(sum) {
		return BadPayout
	}
	for i := range numerators {
		hi, lo := bits.Mul64(uint64(d.payouts[i]), uint64(data.One))
		paid, rest := bits.Div64(hi, lo, total) // a numerator is not above the total, so hi is below it
		if rest != 0 {
			return BadPayout // a third is not a number of millionths
		}
		d.payouts[i] = data.Micro(paid)
	}
	d.event.Kind, d.event.Resolution = Resolved, Resolution{condition, d.payouts[:len(numerators)], false}
	return nil
}
