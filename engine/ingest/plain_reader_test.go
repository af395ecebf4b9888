package ingest

import (
	"context"
	"errors"
	"io"
	"math"
	"testing"
	"time"

	"pmx/data"
	"pmx/engine/guard"
)

// newReader returns a reader of a venue without wallets and tokens.
func newReader(ctx context.Context) *plainReader {
	p := &plainReader{ctx: ctx, wallets: map[data.Address]int32{}, tokens: map[string]int32{}, left: 1 << 30, latest: firstTime, batch: &plainBatch{},
		full: make(chan *plainBatch, plainAhead), free: make(chan *plainBatch, plainAhead+1)}
	for range plainAhead {
		p.free <- &plainBatch{}
	}
	return p
}

// TestAPlainReaderKeepsItsMemory: a file with more wallets and tokens than fit is not read as a plain one, and one
// that nobody stages any more ends with the cause.
func TestAPlainReaderKeepsItsMemory(t *testing.T) {
	const rows = 3 * plainRows
	read := func(_ io.Reader, each func(*data.PlainFill) error) (bool, error) {
		f := data.PlainFill{TS: firstTime, LogIndex: data.NoIndex, Token: []byte("7")}
		for i := range rows {
			f.Wallet[0], f.Wallet[1] = byte(i), byte(i>>8)
			if err := each(&f); err != nil {
				return false, err
			}
		}
		return true, nil
	}
	for _, c := range []struct {
		room  int64
		plain bool
	}{{rows*plainWallet + plainToken, true}, {rows*plainWallet + plainToken - 1, false}} {
		p := newReader(t.Context())
		p.left = c.room
		if plain, err := p.readText(nil, read); plain != c.plain || err != nil {
			t.Errorf("with %d bytes: plain %v, %v", c.room, plain, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	p := newReader(ctx)
	for len(p.free) > 0 { // as if nothing were appended
		<-p.free
	}
	cancel()
	if plain, err := p.readText(nil, read); plain || !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: plain %v, %v", plain, err)
	}
}

// TestAPlainReaderTakesItsBatchesBack: all of them, if the reading ends while it waits for one.
func TestAPlainReaderTakesItsBatchesBack(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := newReader(ctx)
	for range plainAhead {
		if err := p.pass(); err != nil {
			t.Fatal(err)
		}
	}
	appended := <-p.full
	ended := guard.Start(p.pass)
	for len(p.full) < plainAhead {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the reading ended with %v", err)
	}
	close(p.full)
	for b, more := appended, true; more; b, more = <-p.full {
		select {
		case p.free <- b:
		default:
			t.Fatal("a batch cannot be given back: the import would wait for ever")
		}
	}
}

// TestEqualRowsBeyondANumberOfRepeatsAreLeftToTheStatements: a number that does not fit would become negative.
func TestEqualRowsBeyondANumberOfRepeatsAreLeftToTheStatements(t *testing.T) {
	for _, c := range []struct {
		rows int
		fit  bool
	}{{math.MaxInt16, true}, {math.MaxInt16 + 1, false}} {
		group := make([]plainRow, c.rows)
		for i := range group {
			group[i] = plainRow{row: int64(i + 1), log: data.NoIndex, repeat: 1}
		}
		var r repeats
		if fit := r.number(group); fit != c.fit || fit && group[c.rows-1].repeat != math.MaxInt16 {
			t.Errorf("%d equal rows: %v, the last one is number %d", c.rows, fit, group[c.rows-1].repeat)
		}
	}
}
