package server

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/klauspost/compress/gzip"
	"github.com/valyala/fasthttp"

	"pmx/http/web"
	"pmx/http/wire"
)

// mostAnswers is how many answers a page is given at once.
const mostAnswers = 12

// answers gives a page of this server several answers of the API in one: what a view
// needs is one request instead of one per section. Each is asked for as it would be
// alone, by the same caller, and counts as one against the caller's rate. Programs
// have the API itself: requests that no browser sent for a page of this server find
// nothing here.
func (s *Server) answers(c *fiber.Ctx) error {
	if string(c.Request().Header.Peek("Sec-Fetch-Site")) != "same-origin" {
		return fiber.ErrNotFound
	}
	paths := c.Context().QueryArgs().PeekMulti("of")
	if len(paths) == 0 || len(paths) > mostAnswers {
		return fiber.ErrBadRequest
	}
	body := []byte(`{"answers":[`)
	for i, path := range paths {
		if !bytes.HasPrefix(path, []byte(wire.Base+"/")) {
			return fiber.ErrBadRequest
		}
		if i > 0 {
			body = append(body, ',')
		}
		var err error
		if body, err = s.appendAnswer(body, c, path); err != nil {
			return err
		}
	}
	return sendAnswers(c, append(body, "]}"...))
}

// appendAnswer asks for path as c would and appends what came of it.
func (s *Server) appendAnswer(body []byte, c *fiber.Ctx, path []byte) ([]byte, error) {
	var req fasthttp.Request
	c.Request().Header.CopyTo(&req.Header)
	for _, name := range []string{fiber.HeaderAcceptEncoding, fiber.HeaderIfNoneMatch, fiber.HeaderConnection, fiber.HeaderUpgrade} {
		req.Header.Del(name)
	}
	req.SetRequestURIBytes(path)
	var one fasthttp.RequestCtx
	one.Init(&req, c.Context().RemoteAddr(), nil)
	s.parsed(&one)
	res := &one.Response
	if res.IsBodyStream() || !strings.Contains(string(res.Header.ContentType()), "json") {
		_ = res.CloseBodyStream()
		return nil, fiber.ErrBadRequest // a file
	}
	if len(req.Header.Peek(wire.KeyHeader)) > 0 && len(res.Header.Peek("X-Ratelimit-Limit")) > 0 {
		keyGiven(c.Context().Conn())
	}
	body = append(body, `{"status":`...)
	body = strconv.AppendInt(body, int64(res.StatusCode()), 10)
	if wait := res.Header.Peek(fiber.HeaderRetryAfter); len(wait) > 0 {
		body = append(append(body, `,"wait":`...), wait...)
	}
	body = append(append(body, `,"body":`...), res.Body()...)
	return append(body, '}'), nil
}

// sendAnswers answers c with body, or with 304 where the page has it.
func sendAnswers(c *fiber.Ctx, body []byte) error {
	tag := fmt.Sprintf(`W/"%016x"`, xxhash.Sum64(body))
	c.Set(fiber.HeaderETag, tag)
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	c.Set(fiber.HeaderVary, "X-API-Key, Accept-Encoding, Sec-Fetch-Site")
	if strings.Contains(c.Get(fiber.HeaderIfNoneMatch), tag[2:]) {
		return c.Status(fiber.StatusNotModified).Send(nil)
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	if !web.AcceptsCoding(c.Get(fiber.HeaderAcceptEncoding), "gzip") {
		return c.Send(body)
	}
	w := answerWriters.Get().(*gzip.Writer)
	defer answerWriters.Put(w)
	var packed bytes.Buffer
	w.Reset(&packed)
	if _, err := w.Write(body); err != nil {
		return fmt.Errorf("compress answers: %w", err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("compress answers: %w", err)
	}
	c.Set(fiber.HeaderContentEncoding, "gzip")
	return c.Send(packed.Bytes())
}

// answerWriters are spare compressors. Of the 100 kB that the page of the venue asks for
// they make 20 kB in 0.2 ms; brotli takes 1.6 ms for 18 kB, in which other requests wait.
var answerWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, 2) // a level that exists
	return w
}}
