package api

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
	"github.com/valyala/fasthttp"
)

const jsonType = "application/json; charset=utf-8"

// Bodies that are compressed once and sent often use the densest coding, bodies made for one
// request the cheapest.
var (
	denseFirst = [encodings - 1]encoding{brotliCoding, zstdCoding, gzipCoding}
	cheapFirst = [encodings - 1]encoding{zstdCoding, gzipCoding, brotliCoding}
)

// etag is a weak entity tag with its quotes: W/"16 hex digits".
type etag [20]byte

// etagOf makes a tag of a body's fingerprint. It covers everything in the body except as_of, so it
// changes if and only if something else does. window_start and window_end are in the body and
// therefore in the tag.
func etagOf(sum uint64) etag {
	var t etag
	b := append(t[:0], `W/"`...)
	appendHex64(b, sum)
	t[len(t)-1] = '"'
	return t
}

// chainSums mixes fingerprints in order.
func chainSums(sums ...uint64) uint64 {
	var text [32]byte
	b := text[:0]
	for _, s := range sums {
		b = binary.LittleEndian.AppendUint64(b, s)
	}
	return xxhash.Sum64(b)
}

// etagMatches reports whether an If-None-Match header names t, by weak comparison. RFC 9110
// sections 8.8.3.2 and 13.1.2.
func etagMatches(header []byte, t *etag) bool {
	header = bytes.TrimSpace(header)
	if len(header) == 0 {
		return false
	}
	if string(header) == "*" {
		return true
	}
	opaque := t[2:]
	for len(header) > 0 {
		header = bytes.TrimLeft(header, " \t,")
		header = bytes.TrimPrefix(header, []byte("W/"))
		if len(header) == 0 || header[0] != '"' {
			return false
		}
		end := bytes.IndexByte(header[1:], '"')
		if end < 0 {
			return false
		}
		if bytes.Equal(header[:end+2], opaque) {
			return true
		}
		header = header[end+2:]
	}
	return false
}

// setSuccessHeaders sets the headers of a 200 or 304 and reports whether a body is wanted. The
// response to a POST or DELETE is not cacheable and has no tag.
func setSuccessHeaders(c *fiber.Ctx, t *etag, maxAge int) bool {
	h := &c.Response().Header
	if method := c.Method(); method != fiber.MethodGet && method != fiber.MethodHead {
		setHeader(h, headerCacheControl, "no-store")
		setHeader(h, headerVary, varyOn)
		h.SetContentType(jsonType)
		return true
	}
	setHeader(h, headerETag, utils.UnsafeString(t[:]))
	var text [48]byte
	b := append(text[:0], "private, max-age="...)
	setHeader(h, headerCacheControl, utils.UnsafeString(strconv.AppendInt(b, int64(maxAge), 10)))
	setHeader(h, headerVary, varyOn)
	if etagMatches(c.Request().Header.Peek(fiber.HeaderIfNoneMatch), t) {
		c.Response().SetStatusCode(fiber.StatusNotModified)
		return false
	}
	h.SetContentType(jsonType)
	return true
}

// secondsToRefresh is the max-age of responses that the next cycle replaces: the seconds until
// then, at least 1, and no more than from one cycle to the next, whatever the clock was set to.
func (a *API) secondsToRefresh(call *Call) int {
	fresh := a.source.Freshness()
	most := longestAge
	if fresh.Period > 0 {
		most = min(most, fresh.Period)
	}
	return max(1, int(min(fresh.NextCycle.Sub(call.Start), most)/time.Second))
}

// longestAge is the longest time that a response may be cached.
const longestAge = time.Hour

// beginObject starts the response about one object in call.buf: the envelope, as_of and the key of
// the payload. The tag does not cover the bytes between mark and start.
func (a *API) beginObject(call *Call, asOf []byte) (mark, start int) {
	mark, start = a.beginReply(call, asOf, envelope{tier: call.tier, maxRows: noRows})
	call.buf = append(call.buf, `,"data":`...)
	return mark, start
}

// beginReply starts a response in call.buf with envelope e and as_of; response-level members and
// data follow, each with a leading comma.
func (a *API) beginReply(call *Call, asOf []byte, e envelope) (mark, start int) {
	b := append(call.buf[:0], '{')
	b = a.envelopes.append(b, e)
	mark = len(b)
	b = append(append(b, `,"as_of":`...), asOf...)
	call.buf = b
	return mark, len(b)
}

// finishReply sends call.buf, whose bytes from mark to start are as_of.
func (a *API) finishReply(c *fiber.Ctx, call *Call, mark, start, maxAge int) error {
	call.buf = append(call.buf, '}')
	t := etagOf(chainSums(xxhash.Sum64(call.buf[:mark]), xxhash.Sum64(call.buf[start:])))
	if !setSuccessHeaders(c, &t, maxAge) {
		return nil
	}
	form := negotiateBody(c, len(call.buf), cheapFirst)
	if form == identity {
		c.Response().SetBody(call.buf)
		return nil
	}
	body, err := a.compress.compress(form, call.buf)
	if err != nil {
		return fmt.Errorf("compress response: %w", err)
	}
	sendBody(c.Response(), form, body)
	return nil
}

// negotiateBody is the coding for a body of size bytes.
func negotiateBody(c *fiber.Ctx, size int, prefer [encodings - 1]encoding) encoding {
	if size < minCompressSize {
		return identity
	}
	return negotiate(c.Request().Header.Peek(fiber.HeaderAcceptEncoding), prefer)
}

// sendBody sends body, which must not be changed afterwards.
func sendBody(res *fasthttp.Response, form encoding, body []byte) {
	if form != identity {
		res.Header.SetContentEncoding(form.name())
	}
	res.SetBodyRaw(body)
}
