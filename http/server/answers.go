package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
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
// nothing here. An address may have a part of what an answer before it has: {0.local_date}
// is the field local_date of the first one's data.
func (s *Server) answers(c *fiber.Ctx) error {
	if string(c.Request().Header.Peek("Sec-Fetch-Site")) != "same-origin" {
		return fiber.ErrNotFound
	}
	paths := c.Context().QueryArgs().PeekMulti("of")
	if len(paths) == 0 || len(paths) > mostAnswers {
		return fiber.ErrBadRequest
	}
	list := answerList{body: []byte(`{"answers":[`), read: map[int]any{}}
	for i, path := range paths {
		if !bytes.HasPrefix(path, []byte(wire.Base+"/")) {
			return fiber.ErrBadRequest
		}
		if i > 0 {
			list.body = append(list.body, ',')
		}
		full, known := list.complete(path)
		if !known {
			list.body = append(list.body, `{"of":"","status":404,"body":{}}`...)
			list.at = append(list.at, [2]int{})
			continue
		}
		if err := s.appendAnswer(&list, c, full); err != nil {
			return err
		}
		if !bytes.Equal(full, path) { // the page does not know the address yet
			name, err := json.Marshal(string(full))
			if err != nil {
				return fmt.Errorf("answers: %w", err)
			}
			list.body = append(append(append(list.body[:len(list.body)-1], `,"of":`...), name...), '}')
		}
	}
	return sendAnswers(c, append(list.body, "]}"...))
}

// answerList has answers in one body.
type answerList struct {
	body []byte
	at   [][2]int    // where in body each answer of the API stands
	read map[int]any // the answers that addresses take something of
}

// takenPart is a place of an address that an answer before it fills.
var placeholder = regexp.MustCompile(`\{(\d{1,2})\.([a-z0-9_.]{1,60})\}`)

// plainWord is what may stand in such a place.
var plainWord = regexp.MustCompile(`^[\w-]{1,100}$`)

// complete puts into an address what answers before it have; false if they have it not.
func (p *answerList) complete(path []byte) ([]byte, bool) {
	known := true
	full := placeholder.ReplaceAllFunc(path, func(place []byte) []byte {
		m := placeholder.FindSubmatch(place)
		n, _ := strconv.Atoi(string(m[1])) // two digits
		word, ok := p.field(n, string(m[2]))
		known = known && ok
		return []byte(word)
	})
	return full, known
}

// field is a text in the data of the n-th answer.
func (p *answerList) field(n int, name string) (string, bool) {
	if n >= len(p.at) {
		return "", false
	}
	if _, read := p.read[n]; !read {
		var answer struct{ Data any }
		_ = json.Unmarshal(p.body[p.at[n][0]:p.at[n][1]], &answer) // an answer without data has no field
		p.read[n] = answer.Data
	}
	at := p.read[n]
	for _, key := range strings.Split(name, ".") {
		switch v := at.(type) {
		case map[string]any:
			at = v[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return "", false
			}
			at = v[i]
		default:
			return "", false
		}
	}
	word, ok := at.(string)
	return word, ok && plainWord.MatchString(word)
}

// appendAnswer asks for path as c would and appends what came from it.
func (s *Server) appendAnswer(p *answerList, c *fiber.Ctx, path []byte) error {
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
		return fiber.ErrBadRequest // a file
	}
	if len(req.Header.Peek(wire.KeyHeader)) > 0 && len(res.Header.Peek("X-Ratelimit-Limit")) > 0 {
		keyGiven(c.Context().Conn())
	}
	body := strconv.AppendInt(append(p.body, `{"status":`...), int64(res.StatusCode()), 10)
	if wait := res.Header.Peek(fiber.HeaderRetryAfter); len(wait) > 0 {
		body = append(append(body, `,"wait":`...), wait...)
	}
	body = append(body, `,"body":`...)
	start := len(body)
	body = append(body, res.Body()...)
	p.body, p.at = append(body, '}'), append(p.at, [2]int{start, len(body)})
	return nil
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
