package rpc

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// TooWide is the error of a range whose logs the provider does not return in one response.
type TooWide struct {
	// From and To are the provider's proposal, a narrower range with the same beginning; 0 and 0 if
	// there is none.
	From, To int64
	Logs     int64  // the maximum number of logs; 0 if the provider does not say
	Said     string // by the provider
}

// Error returns what the provider said.
func (e *TooWide) Error() string {
	if e.To == 0 {
		return "the range is too wide: " + e.Said
	}
	return fmt.Sprintf("the range is too wide, it may reach to %d: %s", e.To, e.Said)
}

// newError parses the error of an answer, which some providers write as plain text.
func newError(text []byte) *Error {
	var wire struct {
		Code    json.RawMessage `json:"code"`
		Message json.RawMessage `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	e := &Error{}
	if json.Unmarshal(text, &wire) != nil {
		wire.Message = text
	}
	if json.Unmarshal(wire.Message, &e.Message) != nil {
		e.Message = string(wire.Message)
	}
	e.Code, _ = strconv.ParseInt(strings.Trim(string(wire.Code), `"`), 10, 64)
	e.said = strings.ToLower(e.Message + " " + string(wire.Data))
	if e.data = wire.Data; len(e.Message) > mostMessage {
		e.Message = strings.ToValidUTF8(e.Message[:mostMessage], "")
	}
	return e
}

const mostMessage = 1 << 10

// Error messages of providers, in lower case. They all differ, and codes have different meanings.
var (
	wide = regexp.MustCompile(`block range|blocks range|range (is|was)? ?too|too wide|ranges? over|range of blocks|max(imum)? range|range limit|limited to a? ?[0-9,-]+ ?k? ?(blocks?|range)|` +
		`limited to [0-9,]+ - [0-9,]+|returned more than|more than [0-9,]+k? (results|logs)|too many (logs|results|blocks)|max(imum)? results|results? (exceed|limit)|response (size|is too)|response too|` +
		`requested blocks|query timeout|logs matched|please (narrow|limit|reduce)|exceeds? (the )?max(imum)? (block|range|number of blocks)`)
	behind = regexp.MustCompile(`beyond (the )?(current )?head|after (the )?(last|latest|current) (accepted )?block|header not found|unknown block|block not found|block .{0,40} not (found|available)|` +
		`missing trie node|future block|greater than (the )?(latest|current|head)|toblock .{0,20}(latest|head|current)|not yet (available|synced)`)
	tooMuch = regexp.MustCompile(`rate.?limit|too many requests|request limit|requests? per|compute units|per second|throughput|capacity|quota|daily request|credits|slow down|throttl`)
	passing = regexp.MustCompile(`internal|time.?out|timed out|tempor|try again|retry|unavailable|overload|busy|no backend|upstream|connection|unhealthy|service`)
	tagging = regexp.MustCompile(`finalized|tag|hex|invalid|unknown block|not found|not supported|unsupported|parse`)
	batches = regexp.MustCompile(`batch`)

	ownRange   = regexp.MustCompile(`(?:\[|with the range)\s*"?(0x[0-9a-f]+|[0-9]+)"?\s*[,-]\s*"?(0x[0-9a-f]+|[0-9]+)`)
	blocksHint = []*regexp.Regexp{
		regexp.MustCompile(`([0-9][0-9,_]*)(k?)[ -]?(?:blocks?\b|range)`),
		regexp.MustCompile(`(?:range|blocks)(?: limit)?(?: is| of|:| to| max|,|\()* ?(?:max(?:imum)?:? (?:is )?)?([0-9][0-9,_]*)(k?)\b`),
	}
	logsHint   = regexp.MustCompile(`(?:than|limit(?: of)?|max(?:imum)?(?: results| logs| entries)?|cap of) ([0-9][0-9,_]*)(k?)\b`)
	callsHint  = regexp.MustCompile(`(?:than|limit|max(?:imum)?|exceeds?|up to|size|of)(?: size| limit| of| is| batch|:)* ([0-9]+)`)
	notOfRange = regexp.MustCompile(`results|logs|entries`)
)

func (e *Error) isTooMuch() bool {
	return e.Code == 429 || !e.isWide() && tooMuch.MatchString(e.said)
}

func (e *Error) isWide() bool {
	switch {
	case e.isBehind():
		return false
	case e.status == http.StatusRequestEntityTooLarge:
		return true
	}
	return wide.MatchString(e.said) || e.Code == codeLimit && !tooMuch.MatchString(e.said)
}

// codeLimit is the code for any limit (EIP-1474).
const codeLimit = -32005

func (e *Error) isBehind() bool { return behind.MatchString(e.said) }

// isBatch reports whether the provider wants fewer calls in a batch. alone is set if the error is
// not in a list: then "invalid request" means that the provider does not support batches.
func (e *Error) isBatch(alone bool) bool {
	if wide.MatchString(e.said) || tooMuch.MatchString(e.said) {
		return false
	}
	return batches.MatchString(e.said) || !e.isWide() && alone && (e.Code == -32600 || e.Code == -32700)
}

// batchOf returns how many calls the provider accepts in a batch if asked were too many.
func (e *Error) batchOf(asked int) int {
	if m := callsHint.FindStringSubmatch(e.said); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 && n < asked {
			return n
		}
	}
	return 1
}

// passes reports whether the error is one of the provider and may be temporary.
func (e *Error) passes() bool {
	return !e.isWide() && !e.isBehind() && (e.Code == -32603 || e.Code == 0 || e.Code <= -32000 && e.Code >= -32099) && (e.Code == -32603 || passing.MatchString(e.said))
}

// noTag reports whether the error says that the provider does not know a block tag.
func (e *Error) noTag() bool {
	return e.Code == -32602 || e.Code == -39001 || tagging.MatchString(e.said)
}

// tooWide returns a *TooWide if the error says that the range is too wide, else nil.
func (e *Error) tooWide(from, to int64) *TooWide {
	w := &TooWide{Said: e.Message}
	if m := logsHint.FindStringSubmatch(strings.TrimSpace(e.said)); m != nil && notOfRange.MatchString(e.said) {
		w.Logs = hint(m[1], m[2])
	}
	if until := e.proposed(from, to); until >= from {
		w.From, w.To = from, until
	}
	return w
}

// proposed returns the last block of a range that begins at from, ends before to, and that the
// provider would answer; -1 if the error has none.
func (e *Error) proposed(from, to int64) int64 {
	var data struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	texts := []string{"", ""}
	if json.Unmarshal(e.data, &data) == nil && data.From != "" {
		texts = []string{data.From, data.To}
	} else if m := ownRange.FindStringSubmatch(e.said); m != nil {
		texts = m[1:]
	}
	first, ok := quantity([]byte(texts[0]))
	last, okLast := quantity([]byte(texts[1]))
	if ok && okLast && last >= first && last-first < to-from {
		return from + last - first
	}
	for _, r := range blocksHint {
		for _, m := range r.FindAllStringSubmatch(e.said, -1) {
			if n := hint(m[1], m[2]); n > 0 && n <= to-from {
				return from + n - 1
			}
		}
	}
	return -1
}

// hint parses a number such as 10,000 or 10k, up to a billion; 0 if it is not one.
func hint(digits, thousands string) int64 {
	n, err := strconv.ParseInt(strings.NewReplacer(",", "", "_", "").Replace(digits), 10, 64)
	if err != nil || n > 1e9 {
		return 0
	}
	if thousands != "" {
		n *= 1000
	}
	return n
}
