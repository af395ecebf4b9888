package replay

import (
	"bytes"

	"pmx/data"
	"pmx/data/chain/encode"
	"pmx/data/sample"
)

// packedLogs are the logs of a venue that a filter selects, compressed: one zstd frame per stretch
// of blocks, with a comma before each log; nil if the stretch has none.
type packedLogs struct {
	takes     [kinds]bool
	first     int64 // block of the first stretch
	stretches [][]byte
}

// stretchBlocks is the number of blocks in a stretch.
const stretchBlocks = 1 << 10

// Keep encodes all logs with any of these first topics once and keeps them compressed, some 300
// bytes a log, for compressed responses without faults to requests for exactly these topics. It is
// meant for measurements of a client, in which encoding by the server should not count. It must be
// called before the first request.
func (s *Server) Keep(topics []data.Hash) error {
	v := s.venue
	k := &packedLogs{first: sample.BlockOf(v.Matches[0].At)}
	for i, e := range s.history.emitters {
		k.takes[i] = has(topics, e.topic)
	}
	last := sample.BlockOf(v.Matches[len(v.Matches)-1].At)
	packed := bytes.Buffer{}
	zip := newPacker(inZstd)
	text := []byte(nil)
	logs := scan{history: s.history, takes: &k.takes, emit: func(l *encode.Log) error {
		text = l.AppendJSON(append(text, ','))
		return nil
	}}
	for from := k.first; from <= last; from += stretchBlocks {
		text = text[:0]
		if err := logs.run(from, from+stretchBlocks-1); err != nil {
			return err
		}
		if len(text) == 0 {
			k.stretches = append(k.stretches, nil)
			continue
		}
		packed.Reset()
		zip.Reset(&packed)
		if _, err := zip.Write(text); err != nil {
			return err
		}
		if err := zip.Close(); err != nil {
			return err
		}
		k.stretches = append(k.stretches, bytes.Clone(packed.Bytes()))
	}
	s.kept = k
	return nil
}

// serves reports whether a response can be put together from the kept logs.
func (k *packedLogs) serves(v *responder, q *filter, out *stream) bool {
	return k != nil && out.zip != nil && out.enc == inZstd && v.fault == nil && v.fork.number == 0 && q.takes == k.takes && len(q.topics) < 2
}

// run is like scan.run, but uses kept stretches if they are requested completely. some reports
// whether any log was written before.
func (k *packedLogs) run(s *scan, out *stream, some func() bool, from, to int64) error {
	for from <= to {
		n := (from - k.first) / stretchBlocks
		next := k.first + (n+1)*stretchBlocks
		switch {
		case from < k.first:
			next = k.first
		case n >= int64(len(k.stretches)):
			next = to + 1
		case from == next-stretchBlocks && next-1 <= to && (some() || k.stretches[n] == nil):
			if err := out.member(k.stretches[n]); err != nil {
				return err
			}
			from = next
			continue
		}
		if err := s.run(from, min(to, next-1)); err != nil {
			return err
		}
		from = next
	}
	return nil
}
