package textseg

import (
	"encoding/binary"
	"errors"
	"fmt"

	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// Plan says what a Build has to put into the file: all markets as they are now.
type Plan struct {
	Batch         int64  // the last import in it; markets that later ones changed are in it or not
	ImportLogHash uint64 // set by the caller: the fingerprint of the imports up to Batch
}

// Plan says what a Build has to do now.
func (s *Store) Plan() Plan { return Plan{Batch: s.Through()} }

// Build writes the file that plan describes and swaps it in. all passes every market to add, in
// ascending order. One Build runs at a time.
func (s *Store) Build(plan Plan, all func(add func(market int32, t *serving.MarketTexts) error) error) (err error) {
	defer func() { err = errors.Join(err, segments.RemoveTemp(s.Path)) }()
	temporary := segments.TempPath(s.Path, 0)
	if err := s.write(temporary, plan, all); err != nil {
		return fmt.Errorf("file of market texts: %w", err)
	}
	if err := segments.Publish(temporary, s.Path, s.Sync); err != nil {
		return err
	}
	return s.Adopt(plan.Batch, nil, s.Path)
}

func (s *Store) write(path string, plan Plan, all func(add func(market int32, t *serving.MarketTexts) error) error) (err error) {
	w, err := segments.Create(path, format)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	var places, text []byte
	markets := int64(0)
	err = all(func(market int32, t *serving.MarketTexts) error {
		for len(places) <= int(market)*indexSize {
			places = binary.LittleEndian.AppendUint64(places, w.Counts[texts])
		}
		markets++
		text = appendRecord(text[:0], t)
		return w.Add(texts, text)
	})
	places = binary.LittleEndian.AppendUint64(places, w.Counts[texts])
	for _, step := range []func() error{w.Pad, func() error { return w.Add(index, places) }} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		return err
	}
	return w.Finish(segments.Coverage{Batch: plan.Batch, ImportLogHash: plan.ImportLogHash, Facts: markets}, s.Sync)
}
