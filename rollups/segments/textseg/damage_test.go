package textseg

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"pmx/data/testfiles"
	"pmx/rollups/segments"
)

// However a file is damaged, a text that is read from it is what was written, or is left to the
// database: it is never wrong, and never a panic. What is left to the database is reported as
// damage.
func TestADamagedFileIsNeverServedFrom(t *testing.T) {
	const n = 60
	s := made(t, n)
	from, _ := s.Contents().Files.Last().Span(index)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	rng, size, found := rand.New(rand.NewPCG(5, 6)), len(text), 0
	rounds := testfiles.Cases(800, 3_000)
	for i := range rounds {
		at, bit, name := rng.IntN(size), rng.IntN(8), ""
		if i < 120 {
			at = i // the header
		}
		damage := func(b []byte) []byte {
			if i%5 == 4 {
				name = fmt.Sprint("cut to ", at)
				return b[:at]
			}
			name = fmt.Sprintf("bit %d of byte %d", bit, at)
			b[at] ^= 1 << bit
			return b
		}
		late := i%4 == 3 && at < int(from) // once it is open; the index is not verified again
		changed := damage(append([]byte{}, text...))
		if !late {
			err = os.WriteFile(s.Path, changed, 0o600)
		} else {
			err = os.WriteFile(s.Path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		again, missing := New(s.Path), false
		var told *segments.Damage
		again.OnDamage = func(d *segments.Damage) { told = d }
		opened, err := again.Open(func(segments.Coverage) (bool, error) { return true, nil })
		if err != nil || late && !opened {
			t.Fatal(name, opened, err)
		}
		if late {
			if err := os.WriteFile(s.Path, changed, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for market := range n {
			got, ok := again.Texts(int32(market), 0)
			missing = missing || !ok
			if ok && got != *described(market) {
				t.Fatalf("%s, late %v: market %d: %+v", name, late, market, got)
			}
		}
		version := len(format.Magic)
		if missing != (told != nil) && (at < version || at >= version+8) {
			t.Errorf("%s, late %v: texts are missing: %v, yet the damage is %v", name, late, missing, told)
		}
		if missing {
			found++
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if found < rounds*8/10 {
		t.Errorf("%d of %d damages were noticed", found, rounds)
	}
}
