package api

import (
	"encoding/json"
	"strconv"

	"pmx/http/access"
	"pmx/http/wire"
)

// noRows is the max_rows of single objects: null.
const noRows = 0

// envelope is the tariff metadata of one response.
type envelope struct {
	tier    access.Tier
	trimmed bool        // by a plan cap
	hint    access.Tier // the lowest tier that gives what was requested; Nobody: none
	maxRows int         // noRows: null
}

// envelopeTemplate has the texts of a tier's envelope that are the same for all calls.
type envelopeTemplate struct{ head, tail []byte }

// envelopes holds the parts of every tier, Nobody's too.
type envelopes [access.Nobody + 1]envelopeTemplate

func newEnvelopes() *envelopes {
	var all envelopes
	for t := access.Free; t <= access.Nobody; t++ {
		head := appendText([]byte(`"plan":`), t.String())
		available, locked := t.Sections()
		tail := appendSections([]byte(`,"available_sections":`), available)
		tail = appendSections(append(tail, `,"locked_sections":`...), locked)
		tail = append(tail, `,"max_history_days":`...)
		if days := t.Caps().HistoryDays; days > 0 {
			tail = strconv.AppendInt(tail, int64(days), 10)
		} else {
			tail = append(tail, "null"...)
		}
		all[t] = envelopeTemplate{
			head: append(head, `,"truncated":`...),
			tail: append(tail, `,"max_rows":`...),
		}
	}
	return &all
}

func appendSections(b []byte, list []wire.Section) []byte {
	if len(list) == 0 {
		return append(b, "[]"...)
	}
	text, _ := json.Marshal(list) // strings cannot fail
	return append(b, text...)
}

// append adds the eight envelope members, without braces.
func (all *envelopes) append(b []byte, e envelope) []byte {
	parts := &all[e.tier]
	b = append(b, parts.head...)
	if e.trimmed {
		b = append(b, `true,"lock_reason":"`+wire.LockPlan+`","upgrade_hint":`...)
		b = appendText(b, e.hint.String())
	} else {
		b = append(b, `false,"lock_reason":null,"upgrade_hint":null`...)
	}
	b = append(b, parts.tail...)
	if e.maxRows == noRows {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, int64(e.maxRows), 10)
}
