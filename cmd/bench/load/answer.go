package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// answer is the part of a response that a load needs.
type answer struct {
	status int
	size   int    // size of the body
	last   bool   // the server closes the connection
	start  []byte // start of the body of a failed request, for the error
}

var (
	headEnd  = []byte("\r\n\r\n")
	lengthIs = []byte("\r\nContent-Length: ")
	closing  = []byte("\r\nConnection: close\r\n")
)

// errHead is returned for a response whose head is not HTTP/1.1, or does not give the length of the
// body in the format of fasthttp, the only server that is measured.
var errHead = errors.New("not the head of a response that says its length")

// readAnswer reads one response and parses only what it must: parsing every header would cost the
// generator, on the same cores, as much as the server needs to write them.
func readAnswer(r *bufio.Reader) (answer, error) {
	head, err := readHead(r)
	if err != nil {
		return answer{}, err
	}
	if len(head) < len("HTTP/1.1 200") || !bytes.HasPrefix(head, []byte("HTTP/1.1 ")) {
		return answer{}, fmt.Errorf("%w: %.80q", errHead, head)
	}
	a := answer{last: bytes.Contains(head, closing)}
	if a.status, err = strconv.Atoi(string(head[9:12])); err != nil {
		return answer{}, fmt.Errorf("%w: %.80q", errHead, head)
	}
	if at := bytes.Index(head, lengthIs); at >= 0 {
		text, _, _ := bytes.Cut(head[at+len(lengthIs):], []byte("\r"))
		if a.size, err = strconv.Atoi(string(text)); err != nil {
			return answer{}, fmt.Errorf("%w: %q", errHead, text)
		}
	} else if a.status != 304 {
		return answer{}, fmt.Errorf("%w: %.80q", errHead, head)
	}
	if _, err = r.Discard(len(head)); err != nil {
		return answer{}, err
	}
	if a.status >= 400 {
		start, err := r.Peek(min(a.size, 200))
		if err != nil {
			return answer{}, err
		}
		a.start = bytes.Clone(start)
	}
	_, err = r.Discard(a.size)
	return a, err
}

// readHead returns the head of the next response, with its empty line, as a view into the buffer.
func readHead(r *bufio.Reader) ([]byte, error) {
	for seen := 0; ; {
		if _, err := r.Peek(seen + 1); err != nil {
			return nil, err
		}
		have, err := r.Peek(r.Buffered())
		if err != nil {
			return nil, err
		}
		from := max(0, seen-len(headEnd)+1)
		if at := bytes.Index(have[from:], headEnd); at >= 0 {
			return have[:from+at+len(headEnd)], nil
		}
		seen = len(have)
	}
}
