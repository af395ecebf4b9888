package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/engine/export/job"
)

// downloadExport answers GET …/export-jobs/{job_id}/download with the file, or the part of it that
// Range requests, as stored on the disk.
func (a *API) downloadExport(c *fiber.Ctx, call *Call, kind job.Kind) error {
	if a.exports == nil {
		return notReady("This server does not provide exports.", 60)
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	j, err := a.exports.Job(ctx, call.KeyID(), kind, call.value(exportJob).text)
	if err != nil {
		return a.exportProblem(err)
	}
	if bad := notDownloadable(&j); bad != nil {
		return bad
	}
	tag := `"` + j.SHA256 + `"`
	if listsETag(c.Request().Header.Peek(fiber.HeaderIfNoneMatch), tag) {
		fileHeaders(c, &j, tag, call.Start)
		c.Response().SetStatusCode(fiber.StatusNotModified)
		return nil
	}
	part, bad := requestedRange(c, &j, tag)
	if bad != nil {
		return bad
	}
	f, err := a.exports.Open(j)
	if errors.Is(err, job.ErrGone) {
		return fileGone()
	}
	if err != nil {
		return fmt.Errorf("open export: %w", err)
	}
	fileHeaders(c, &j, tag, call.Start)
	return sendFile(c, f, part)
}

func fileGone() *problem {
	return &problem{status: fiber.StatusGone, code: "export_expired", detail: "The file has expired and was removed. Create the job again."}
}

// notDownloadable says why a job has no file to download; nil if it has one.
func notDownloadable(j *job.Job) *problem {
	switch j.Status {
	case job.Done:
		return nil
	case job.Expired:
		return fileGone()
	case job.Failed:
		return &problem{status: fiber.StatusConflict, code: "export_failed", detail: "This export failed and has no file: " + j.Detail}
	case job.Canceled:
		return &problem{status: fiber.StatusConflict, code: "export_canceled", detail: "This export was canceled and has no file. Create the job again."}
	}
	return &problem{status: fiber.StatusConflict, code: "export_not_ready", detail: "Poll the job until its status is done, then download the file.", retry: 1}
}

// fileHeaders are those of the whole file, of a range and of a 304.
func fileHeaders(c *fiber.Ctx, j *job.Job, tag string, now time.Time) {
	h := &c.Response().Header
	setHeader(h, headerETag, tag)
	setHeader(h, headerVary, "X-API-Key")
	setHeader(h, headerCacheControl, "private, max-age="+strconv.Itoa(max(1, int(min(j.Expires.Sub(now), j.Expires.Sub(j.Finished))/time.Second))))
	setHeader(h, "Accept-Ranges", "bytes")
	setHeader(h, fiber.HeaderLastModified, j.Finished.UTC().Format(http.TimeFormat))
	setHeader(h, fiber.HeaderContentDisposition, `attachment; filename="`+exportName(j)+`"`)
	if sum, err := hex.DecodeString(j.SHA256); err == nil {
		setHeader(h, "Repr-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(sum)+":")
	}
	switch {
	case j.Request.Kind == job.Trader:
		h.SetContentType(zipType)
	case j.Request.Format == "csv":
		h.SetContentType(csvType)
	default:
		h.SetContentType(parquetType)
	}
}

// listsETag reports whether a list of entity tags holds tag; a weak one counts for If-None-Match.
// RFC 9110 section 13.1.2.
func listsETag(header []byte, tag string) bool {
	for item := range bytes.SplitSeq(header, []byte(",")) {
		item = bytes.TrimPrefix(bytes.TrimSpace(item), []byte("W/"))
		if string(item) == "*" || string(item) == tag {
			return true
		}
	}
	return false
}

// byteRange is a range of a file, excluding its end.
type byteRange struct {
	from, to, size int64
	partial        bool // less than the whole file was requested
}

// requestedRange parses Range and If-Range. A range in an unknown form, or several ranges, are
// ignored, as RFC 9110 section 14.2 allows: the whole file is sent.
func requestedRange(c *fiber.Ctx, j *job.Job, tag string) (byteRange, *problem) {
	whole := byteRange{to: j.Bytes, size: j.Bytes}
	s, ok := parseRange(string(c.Request().Header.Peek(fiber.HeaderRange)), j.Bytes)
	if !ok || !ifRangeHolds(string(c.Request().Header.Peek(fiber.HeaderIfRange)), tag, j.Finished) {
		return whole, nil
	}
	if s.from >= s.to {
		setHeader(&c.Response().Header, fiber.HeaderContentRange, "bytes */"+strconv.FormatInt(j.Bytes, 10))
		return s, &problem{
			status: fiber.StatusRequestedRangeNotSatisfiable, code: "range_not_satisfiable",
			detail: fmt.Sprintf("The file has %d bytes. Request a range within them, or omit Range.", j.Bytes),
		}
	}
	return s, nil
}

// parseRange parses a single range of bytes; an empty result is outside of the file. RFC 9110
// section 14.1.2.
func parseRange(header string, size int64) (byteRange, bool) {
	set, ok := strings.CutPrefix(header, "bytes=")
	first, last, dash := strings.Cut(strings.TrimSpace(set), "-")
	if !ok || !dash || strings.Contains(set, ",") {
		return byteRange{}, false
	}
	s := byteRange{size: size, partial: true}
	if first == "" { // the last so many bytes
		n, ok := wholeNumber(last)
		s.from, s.to = size-min(n, size), size
		return s, ok
	}
	from, ok := wholeNumber(first)
	if !ok {
		return s, false
	}
	s.from, s.to = from, size
	if last != "" {
		to, ok := wholeNumber(last)
		if !ok || to < from {
			return s, false
		}
		s.to = min(to+1, size)
	}
	return s, true
}

func wholeNumber(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0 && text[0] != '+' && n < 1<<62
}

// ifRangeHolds reports whether If-Range names the present file: by its strong tag or its exact
// time. RFC 9110 section 13.1.5.
func ifRangeHolds(header, tag string, modified time.Time) bool {
	header = strings.TrimSpace(header)
	if header == "" || header == tag {
		return true
	}
	at, err := http.ParseTime(header)
	return err == nil && at.Equal(modified.UTC().Truncate(time.Second))
}

// sendFile streams the span of f and closes it.
func sendFile(c *fiber.Ctx, f *os.File, s byteRange) error {
	h := &c.Response().Header
	if s.partial {
		c.Response().SetStatusCode(fiber.StatusPartialContent)
		setHeader(h, fiber.HeaderContentRange, fmt.Sprintf("bytes %d-%d/%d", s.from, s.to-1, s.size))
	} else { // for the whole file both digests are the same. RFC 9530
		h.SetBytesV("Content-Digest", h.Peek("Repr-Digest"))
	}
	c.Response().SetBodyStream(fileStream{io.NewSectionReader(f, s.from, s.to-s.from), f}, int(s.to-s.from))
	return nil
}

// fileStream is a range of a file that is being sent to a client.
type fileStream struct {
	io.Reader
	file *os.File
}

// Close closes the file once all is sent or the client is gone.
func (f fileStream) Close() error { return f.file.Close() }
