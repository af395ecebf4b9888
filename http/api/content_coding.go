package api

import (
	"bytes"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// encoding is a content coding of a response body.
type encoding uint8

const (
	identity encoding = iota
	brotliCoding
	zstdCoding
	gzipCoding
	encodings // how many there are
)

// minCompressSize is the smallest body that is compressed: below it the coding
// saves less than a network packet.
const minCompressSize = 1024

// name is the token of Accept-Encoding and Content-Encoding.
func (e encoding) name() string {
	return [encodings]string{"identity", "br", "zstd", "gzip"}[e]
}

// negotiate picks the best coding an Accept-Encoding header allows: the highest q, and among equals
// the first in prefer. RFC 9110 section 12.5.3. Identity is the fallback, even if the client rules
// it out.
func negotiate(header []byte, prefer [encodings - 1]encoding) encoding {
	if len(header) == 0 {
		return identity
	}
	var q [encodings]int
	for i := range q {
		q[i] = -1
	}
	any := -1
	for len(header) > 0 {
		var item []byte
		item, header, _ = bytes.Cut(header, []byte{','})
		token, params, _ := bytes.Cut(item, []byte{';'})
		weight := quality(params)
		switch token = bytes.TrimSpace(token); {
		case bytes.EqualFold(token, []byte("*")):
			any = weight
		case bytes.EqualFold(token, []byte("x-gzip")):
			q[gzipCoding] = weight
		default:
			for e := identity; e < encodings; e++ {
				if bytes.EqualFold(token, []byte(e.name())) {
					q[e] = weight
				}
			}
		}
	}
	best, top := identity, max(q[identity], 0)
	for _, e := range prefer {
		weight := q[e]
		if weight < 0 {
			weight = any
		}
		if weight > top || weight == top && weight > 0 && best == identity {
			best, top = e, weight
		}
	}
	return best
}

// quality reads the q of "q=0.5" in thousandths; 1000 if there is none, 0 if it cannot be read.
func quality(params []byte) int {
	params = bytes.TrimSpace(params)
	if len(params) < 2 || params[0]|0x20 != 'q' || params[1] != '=' {
		return 1000
	}
	value := params[2:]
	if len(value) == 0 || value[0] != '0' && value[0] != '1' || len(value) > 5 || len(value) > 1 && value[1] != '.' {
		return 0
	}
	weight := int(value[0]-'0') * 1000
	for i, unit := 2, 100; i < len(value); i, unit = i+1, unit/10 {
		if value[i] < '0' || value[i] > '9' {
			return 0
		}
		weight += int(value[i]-'0') * unit
	}
	return min(weight, 1000)
}

// compressor turns bodies into the codings, reusing the encoders' memory.
type compressor struct {
	brotli, gzip sync.Pool
	zstd         *zstd.Encoder
}

func newCompressor() (*compressor, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	c := &compressor{zstd: z}
	c.brotli.New = func() any { return brotli.NewWriterLevel(io.Discard, 4) }
	c.gzip.New = func() any {
		w, _ := gzip.NewWriterLevel(io.Discard, 3) // a level that exists
		return w
	}
	return c, nil
}

// compress returns a copy of body in coding e, which must not be identity.
func (c *compressor) compress(e encoding, body []byte) ([]byte, error) {
	if e == zstdCoding {
		return c.zstd.EncodeAll(body, make([]byte, 0, len(body)/3)), nil
	}
	pool := &c.gzip
	if e == brotliCoding {
		pool = &c.brotli
	}
	w := pool.Get().(interface {
		io.WriteCloser
		Reset(io.Writer)
	})
	defer pool.Put(w)
	var out bytes.Buffer
	out.Grow(len(body) / 3)
	w.Reset(&out)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
