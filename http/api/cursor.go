package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"

	"github.com/gofiber/fiber/v2"
)

const (
	cursorVersion = 1
	cursorMAC     = 16 // bytes of the authentication code
	// MaxCursor is the length of the longest cursor that is read.
	MaxCursor = 512
)

// sealCursor makes the cursor that continues after position: the position and a code that binds it
// to the route and to every other parameter of the call, so that a cursor that was altered, or used
// with another list, is detected.
func (a *API) sealCursor(call *Call, position []byte) string {
	b := make([]byte, 0, 1+len(position)+cursorMAC)
	b = append(append(b, cursorVersion), position...)
	b = a.cursorCode(call, b).Sum(b)[:1+len(position)+cursorMAC]
	return base64.RawURLEncoding.EncodeToString(b)
}

// openCursor returns the position in a cursor that sealCursor made for the same route and
// parameters; an empty text gives nil: the start.
func (a *API) openCursor(call *Call, text string) ([]byte, *problem) {
	if text == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < 1+cursorMAC || b[0] != cursorVersion {
		return nil, badCursor()
	}
	body, code := b[:len(b)-cursorMAC], b[len(b)-cursorMAC:]
	if !hmac.Equal(a.cursorCode(call, body).Sum(nil)[:cursorMAC], code) {
		return nil, badCursor()
	}
	return body[1:], nil
}

// cursorCode authenticates body for the route of call and all its parameters but
// cursor and limit.
func (a *API) cursorCode(call *Call, body []byte) hash.Hash {
	mac := hmac.New(sha256.New, a.cursorKey)
	field := func(b []byte) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
		mac.Write(n[:])
		mac.Write(b)
	}
	field(body)
	field([]byte(call.route.Path))
	for i, p := range call.route.Params {
		if p.Kind == CursorArg || p.Name == "limit" {
			continue
		}
		for _, v := range append([]value{call.values[i]}, call.values[i].more...) {
			b := binary.LittleEndian.AppendUint64(nil, uint64(v.n))
			field(append(append(append(b, v.hash[:]...), appendBool(nil, v.given)...), v.text...))
		}
	}
	return mac
}

func badCursor() *problem {
	return &problem{
		status: fiber.StatusBadRequest, code: "invalid_cursor", param: "cursor",
		detail: "Send next_cursor exactly as you received it, with the same other parameters. To start again, omit cursor.",
	}
}
