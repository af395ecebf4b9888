package replay

import (
	"io"

	"pmx/data/chain/encode"
	"pmx/data/sample"
)

// WriteLogs writes all logs of a venue on a chain as NDJSON, as a node without faults returns them:
// importing the file is the same as following the venue.
func WriteLogs(w io.Writer, v *sample.Venue) error {
	h, err := newHistory(v)
	if err != nil {
		return err
	}
	out := stream{w: w}
	s := scan{history: h, emit: func(l *encode.Log) error {
		out.b = append(l.AppendJSON(out.b), '\n')
		return out.more()
	}}
	if err := s.run(0, sample.BlockAt(v.Manifest.End)); err != nil {
		return err
	}
	return out.flush()
}
