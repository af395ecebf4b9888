package rollups_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups"
	"pmx/rollups/image"
	"pmx/rollups/serving"
)

// imageOf returns the image of what is served.
func (v *venue) imageOf(key string) []byte {
	var b bytes.Buffer
	v.write(v.live.Current)
	if err := v.live.WriteImage(&b, []byte(key)); err != nil {
		v.t.Fatal(err)
	}
	return b.Bytes()
}

// readImage reads an image into another Live with the same settings. If that has shown traders, its PublishTraders is nil.
func (v *venue) readImage(b []byte, key string) (l *rollups.Live, err error) {
	l = &rollups.Live{Venue: v.live.Venue, PublishTraders: func(*serving.Snapshot) {}}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		err = l.ReadImage(ctx, conn, bytes.NewReader(b), int64(len(b)), []byte(key))
		return nil
	})
	return l, err
}

// same compares what is served with what was read from an image, in everything that Compare knows and in their encoded bytes. An import
// that changes nothing is not followed, so what is served may end before it; what is read ends with the last import.
func (v *venue) same(t rapid.TB, when string, read *rollups.Live) {
	t.Helper()
	a, b, last := v.live.Snapshot(), read.Snapshot(), int64(0)
	v.write(func(ctx context.Context, conn *sql.Conn) (err error) {
		last, err = rollups.LastBatch(ctx, conn, -1)
		return err
	})
	if rows, differ := a.Compare(b); differ > 0 || rows == 0 || a.Epoch != b.Epoch || b.Batch != a.Batch && b.Batch != last {
		t.Fatalf("%s: %d of %d things differ from what is served, epochs %d and %d, imports up to %d and %d of %d", when, differ, rows, a.Epoch, b.Epoch, a.Batch,
			b.Batch, last)
	}
}

// Whatever a venue imports before and after its image is written, what is read from the image equals what was written, and follows the
// batches after it just the same.
func TestFromAnImageBatchesAreFollowed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var steps []step
		if rapid.Bool().Draw(rt, "desk") {
			steps = drawDesk(rt)
		} else {
			w := drawWorld(rt)
			steps = w.split(rt)
		}
		v := newVenue(t, steps)
		defer v.close()
		if rapid.Bool().Draw(rt, "no wallets of the venue") {
			v.live.Venue = map[data.Address]bool{}
		}
		v.setWhaleRule(whaleMark)
		var again *rollups.Live
		followed := v.im.Rollups.Absorb
		v.im.Rollups.Absorb = func(ctx context.Context, conn *sql.Conn) error {
			err := followed(ctx, conn)
			if err == nil && again != nil {
				err = again.Absorb(ctx, conn, v.merger.Added())
			}
			return err
		}
		at := rapid.IntRange(0, len(steps)-1).Draw(rt, "image after")
		for i := range steps {
			if r := v.importStep(i); r.RebuildNeeded || rapid.IntRange(0, 9).Draw(rt, "rebuild") == 0 {
				v.rebuild()
				if again != nil {
					v.write(func(ctx context.Context, conn *sql.Conn) error { return again.Load(ctx, conn) })
				}
			}
			if i == at || again != nil && rapid.IntRange(0, 5).Draw(rt, "image again") == 0 {
				var err error
				if again, err = v.readImage(v.imageOf("key"), "key"); err != nil {
					rt.Fatal(err)
				}
			}
			if again != nil {
				v.same(rt, "after a step", again)
			}
		}
		v.followed(rt)
		for _, l := range []*rollups.Live{v.live, again} {
			wallets, tokens := l.Known()
			for id := range tokens {
				if name := l.Snapshot().Catalog.Token(data.TokenID(id)).ID; name != "" {
					if got, known := l.Token(name); !known || int(got) != id {
						rt.Errorf("token %d of %d is found as %d, %v", id, tokens, got, known)
					}
				}
			}
			for id := range wallets {
				if got, known := l.Wallet(l.Snapshot().WalletAt(data.WalletID(id))); !known || int(got) != id {
					rt.Errorf("wallet %d of %d is found as %d, %v", id, wallets, got, known)
				}
			}
		}
	})
}

// Of an image of another key or an earlier state nothing is shown or taken, nor of one that is written while the state is another, and what is served stays.
func TestAnImageOfAnotherStateIsRefused(t *testing.T) {
	world := rapid.Custom(func(rt *rapid.T) []step { w := drawWorld(rt); return w.split(rt) })
	steps := world.Filter(func(s []step) bool { return len(s) >= 2 && len(s[1].fills) > 0 }).Example(3)
	v := newVenue(t, steps)
	defer v.close()
	if v.importStep(0).RebuildNeeded {
		v.rebuild()
	}
	b := v.imageOf("key")
	if l, err := v.readImage(b, "another"); !errors.Is(err, image.ErrOther) || l.Snapshot() != nil || l.PublishTraders == nil {
		t.Errorf("another key: %v", err)
	}
	if l, err := v.readImage(b[:len(b)-20], "key"); !errors.Is(err, image.ErrDamaged) || l.Snapshot() != nil || l.PublishTraders == nil {
		t.Errorf("cut short: %v", err)
	}
	v.im.Rollups.Absorb = nil
	v.importStep(1)
	if l, err := v.readImage(b, "key"); !errors.Is(err, rollups.ErrNotCurrent) || l.Snapshot() != nil || l.PublishTraders == nil {
		t.Errorf("an earlier state: %v", err)
	}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		for _, l := range []*rollups.Live{{}, v.live} {
			if err := l.Current(ctx, conn); !errors.Is(err, rollups.ErrNotCurrent) {
				t.Errorf("nothing, or an earlier state: %v", err)
			}
		}
		return nil
	})
}

// spoiled returns an image with another byte in the first block of a part.
func spoiled(b []byte, part int) []byte {
	const parts, place, end, head = 4, 16, 8, 8 // the parts of an image, and the bytes of their places, of its end, and of the head of a block
	b = bytes.Clone(b)
	at := binary.LittleEndian.Uint64(b[len(b)-end-place*(parts-part):])
	b[at+head]++
	return b
}

// An image shows traders as soon as their parts of it are read, as they are later. If another part is damaged, they were shown as the load
// that follows has them, and that does not show them again. If one of their own parts is damaged, only that load shows them.
func TestTradersAreShownWhileAnImageIsRead(t *testing.T) {
	steps := rapid.Custom(func(rt *rapid.T) []step { w := drawWorld(rt); return w.split(rt) }).Example(7)
	v := newVenue(t, steps)
	defer v.close()
	for i := range steps {
		if v.importStep(i).RebuildNeeded {
			v.rebuild()
		}
	}
	b := v.imageOf("key")
	for _, c := range []struct {
		name  string
		image []byte
		shown int // before ReadImage returns
	}{
		{"a whole image", b, 1},
		{"damaged wallets", spoiled(b, 0), 0},
		{"damaged windows", spoiled(b, 1), 0},
		{"damaged markets", spoiled(b, 2), 1},
		{"damaged sections", spoiled(b, 3), 1},
	} {
		var traders, whole []*serving.Snapshot
		live := &rollups.Live{Venue: v.live.Venue,
			PublishTraders: func(s *serving.Snapshot) { traders = append(traders, s) },
			Publish:        func(s *serving.Snapshot) { whole = append(whole, s) }}
		v.write(func(ctx context.Context, conn *sql.Conn) error {
			err := live.ReadImage(ctx, conn, bytes.NewReader(c.image), int64(len(c.image)), []byte("key"))
			if len(traders) != c.shown {
				t.Errorf("%s: traders were shown %d times", c.name, len(traders))
			}
			if c.name == "a whole image" {
				return err
			}
			if !errors.Is(err, image.ErrDamaged) || len(whole) > 0 || live.Snapshot() != nil {
				t.Errorf("%s: reading it gave %v, and %d snapshots", c.name, err, len(whole))
			}
			return live.LoadBeside(ctx, conn, v.db.Beside)
		})
		if len(traders) != 1 || len(whole) != 1 || traders[0].Catalog != nil || whole[0].Catalog == nil {
			t.Fatalf("%s: %d snapshots with traders, %d with everything", c.name, len(traders), len(whole))
		}
		sameTraders(t, c.name, traders[0], whole[0])
	}
}

// The key of an image differs if the venue's own wallets or the cities do.
func TestSettingsAreInTheKeyOfAnImage(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range []*rollups.Live{{}, {Venue: map[data.Address]bool{address(1): true}}, {Venue: map[data.Address]bool{address(2): true}},
		{Venue: map[data.Address]bool{address(1): true, address(2): true}}, {Cities: &data.Gazetteer{}}} {
		settings := l.ImageSettings()
		if seen[settings] || settings != l.ImageSettings() {
			t.Errorf("%q was there before", settings)
		}
		seen[settings] = true
	}
}
