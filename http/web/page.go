package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/cespare/xxhash/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/klauspost/compress/gzip"
)

// The media types of pages.
const (
	htmlType = "text/html; charset=utf-8"
	jsonType = "application/json; charset=utf-8"
)

// policy allows a page to load only from its own host and to run no inline script except the one
// that sets the colour scheme; it forbids making HTML from text and being framed.
var policy = sync.OnceValue(func() string {
	inline := ""
	if a, err := loadAssets(); err == nil {
		sum := sha256.Sum256(a.theme)
		inline = " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src 'self'" + inline + "; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'; trusted-types 'none'"
})

// Page is one finished response. It never changes; a compressed form is made when it is first
// requested.
type Page struct {
	kind   string
	status int
	maxAge int // seconds
	body   []byte
	gzip   func() ([]byte, error)
	brotli func() ([]byte, error)
	tag    string
	anyone bool // may be read by pages of other hosts

	immutable bool // different content has a different path
}

// newPage makes a page of body.
func newPage(kind string, body []byte, maxAge int) *Page {
	return packPage(kind, body, maxAge, 6)
}

// packPage is newPage with a given level of brotli.
func packPage(kind string, body []byte, maxAge, level int) *Page {
	return &Page{
		kind: kind, status: fiber.StatusOK, maxAge: maxAge, body: body, tag: fmt.Sprintf(`W/"%016x"`, xxhash.Sum64(body)),
		brotli: compressed(body, func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriterLevel(w, level), nil }),
		gzip:   compressed(body, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, 6) }),
	}
}

// compressed returns a function that compresses body once, at the first call.
func compressed(body []byte, with func(io.Writer) (io.WriteCloser, error)) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		var packed bytes.Buffer
		w, err := with(&packed)
		if err != nil {
			return nil, fmt.Errorf("compress page: %w", err)
		}
		if _, err := w.Write(body); err != nil {
			return nil, fmt.Errorf("compress page: %w", err)
		}
		if err := w.Close(); err != nil {
			return nil, fmt.Errorf("compress page: %w", err)
		}
		return bytes.Clone(packed.Bytes()), nil
	})
}

// Send answers c with the page, or with 304 if the client already has it.
func (p *Page) Send(c *fiber.Ctx) error {
	c.Set(fiber.HeaderETag, p.tag)
	age := "public, max-age=" + strconv.Itoa(p.maxAge)
	if p.immutable {
		age += ", immutable"
	}
	c.Set(fiber.HeaderCacheControl, age)
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	if p.kind == htmlType {
		c.Set(fiber.HeaderContentSecurityPolicy, policy())
	}
	if p.anyone {
		c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
	}
	c.Status(p.status)
	if match := c.Get(fiber.HeaderIfNoneMatch); p.status == fiber.StatusOK && match != "" && (match == "*" || strings.Contains(match, p.tag[2:])) {
		return c.Status(fiber.StatusNotModified).Send(nil)
	}
	c.Set(fiber.HeaderContentType, p.kind)
	accepts := c.Get(fiber.HeaderAcceptEncoding)
	switch {
	case AcceptsCoding(accepts, "br"):
		return sendCoded(c, "br", p.brotli)
	case AcceptsCoding(accepts, "gzip"):
		return sendCoded(c, "gzip", p.gzip)
	}
	return c.Send(p.body)
}

func sendCoded(c *fiber.Ctx, coding string, form func() ([]byte, error)) error {
	body, err := form()
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentEncoding, coding)
	return c.Send(body)
}

// AcceptsCoding reports whether an Accept-Encoding header allows coding by name.
func AcceptsCoding(header, coding string) bool {
	for item := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		q, weighed := strings.CutPrefix(strings.TrimSpace(weight), "q=")
		return !weighed || strings.Trim(q, "0.") != ""
	}
	return false
}
