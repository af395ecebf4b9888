package fillseg

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// While a venue grows from one size to a larger one, each new fill is written at most four times,
// and there are never more files than the maximum.
func TestWhatComesInIsWrittenFourTimes(t *testing.T) {
	const million, perFill = 1_000_000, packedRow + hashSize/2
	for _, c := range [][2]uint64{{0, 1}, {0, 10}, {0, 16}, {0, 100}, {0, 300}, {0, 1000}, {10, 100}, {16, 100}, {100, 300}, {280, 600}, {300, 330}, {300, 600}, {300, 1000}, {1000, 1100}} {
		var sizes []uint64
		total, written, added, most := c[0]*million, uint64(0), uint64(0), 0
		if total > 0 {
			sizes = append(sizes, total*perFill)
		}
		for total < c[1]*million {
			n := min(million, max(50_000, total/16)) // as the keeper does
			kept := mergeFrom(sizes, n*perFill, maxLevels)
			size := n * perFill
			for _, s := range sizes[kept:] {
				size += s
			}
			sizes = append(sizes[:kept], size)
			total, added, written, most = total+n, added+n*perFill, written+size, max(most, len(sizes))
		}
		times := float64(written) / float64(added)
		t.Logf("from %d to %d million fills: written %.2f times, %d files", c[0], c[1], times, most)
		if times > 4 || most > maxLevels {
			t.Errorf("from %d to %d million fills: written %.2f times, %d files", c[0], c[1], times, most)
		}
	}
}

// Whatever the sizes are, a build includes the newest files, and there are never too many.
func TestFilesStayFew(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		sizes := make([]uint64, rng.IntN(segments.MaxFiles+1))
		for i := range sizes {
			sizes[i] = rng.Uint64N(1 << rng.IntN(50))
		}
		most := 1 + rng.IntN(maxLevels)
		kept := mergeFrom(sizes, rng.Uint64N(1<<rng.IntN(40)), most)
		if kept < 0 || kept > len(sizes) || kept+1 > most || len(sizes) < most && kept != len(sizes) {
			t.Fatalf("%d of %d files are kept, the maximum is %d", kept, len(sizes), most)
		}
	}
}

// history returns fills that are the same each time: so many of each batch.
type history struct{ fills int }

func (h history) batch(number int64) []serving.Fill {
	rng := rand.New(rand.NewPCG(uint64(number), 9))
	out := make([]serving.Fill, h.fills)
	for i := range out {
		n := number*int64(h.fills) + int64(i)
		late := int64(rng.IntN(h.fills) * (i % 2)) // every other fill is older than some before it
		out[i] = serving.Fill{TS: (epoch + 100_000 + n - late) * second, Tx: data.Hash{byte(n / 2), byte(n / 512), byte(n / 131072), 1}, LogIndex: int32(i % 90),
			Wallet: data.WalletID(rng.IntN(2 + 40*(i%3))), Token: data.TokenID(rng.IntN(1 + 30*(i%5))), Side: data.Side(i & 1), Role: data.Taker, Repeat: 1,
			Shares: data.Micro(rng.Int64N(1e9)), USD: data.Micro(n)}
	}
	return out
}

// flush adds a batch and builds.
func (h history) flush(s *Store, number int64) error {
	fills := h.batch(number)
	s.Add(Batch{Number: number, Fills: slices.Clone(fills)})
	p := s.Plan()
	p.ImportLogHash, p.Facts = 5, (p.Batch+1)*int64(h.fills)
	return s.Build(context.Background(), p, func(add func(int64, *serving.Fill) error) error {
		for batch := p.After + 1; batch <= p.Batch; batch++ {
			for _, f := range h.batch(batch) {
				if err := add(batch, &f); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// check compares what a store returns for every key with the fills of all batches that it has.
func (h history) check(t *testing.T, s *Store) {
	t.Helper()
	through := s.Through()
	facts := map[int32][]serving.Fill{}
	for batch := range through + 1 {
		for _, f := range h.batch(batch) {
			facts[s.key(&f)] = append(facts[s.key(&f)], f)
		}
	}
	for key, want := range facts {
		slices.SortFunc(want, func(x, y serving.Fill) int { return s.order(&y, &x) })
		n := len(want) + 1
		if s.most > 0 {
			n = s.most
			want = want[:min(len(want), n)]
		}
		if got, ok := s.fills(nil, key, through, nil, n); !ok || !slices.Equal(want, got) {
			t.Fatalf("%s: key %d through batch %d: %d fills, %v, want %d", filepath.Base(s.Path), key, through, len(got), ok, len(want))
		}
	}
}

// stores opens or creates the stores below dir.
func (h history) stores(dir string) ([]*Store, error) {
	out := []*Store{NewWalletStore(filepath.Join(dir, "wallets.seg"), scrambled{}).Store, NewTokenStore(filepath.Join(dir, "tokens.seg"), scrambled{}, 50).Store}
	for _, s := range out {
		known, err := s.Open(func(c segments.Coverage) (bool, error) {
			return c.ImportLogHash == 5 && c.Facts == (c.Batch+1)*int64(h.fills), nil
		})
		if err == nil && !known {
			err = s.Restart(-1, true)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// The bytes of all files that are written, including temporary ones, are at most four times those
// of the fills, however many there were before.
func TestBytesWrittenAreInProportionToWhatComesIn(t *testing.T) {
	h := history{2_000}
	stores, err := h.stores(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	flushes := testfiles.Cases(60, 400)
	for _, s := range stores {
		defer func() { _ = s.Close() }()
		s.Sync = func(*os.File) error { return nil }
		s.heavyFrom, s.laterHeavy = 1<<30, 1<<30
		var own, rest int64
		for number := range int64(flushes) {
			before := s.Stats().Written
			if err := h.flush(s, number); err != nil {
				t.Fatal(err)
			}
			if number == 0 {
				own = s.Stats().Written - before // what one file of a batch has
			}
			if n := s.Stats().Files; n > maxLevels {
				t.Fatalf("%d files", n)
			}
			rest = s.Stats().Bytes
		}
		times := float64(s.Stats().Written) / float64(own*int64(flushes))
		t.Logf("%s: %d times a file of %d bytes: written %.2f times, %d bytes are left in %d files", filepath.Base(s.Path), flushes, own, times, rest, s.Stats().Files)
		if times > 4 {
			t.Errorf("%s: written %.2f times", filepath.Base(s.Path), times)
		}
		h.check(t, s)
	}
}

// flushAloud builds again and again in dir, and prints each time.
func flushAloud(dir string) {
	h := history{killedFills}
	stores, err := h.stores(dir)
	for number := int64(0); err == nil; number++ {
		for _, s := range stores {
			s.mostFiles = 3
			if number > s.Through() {
				err = errors.Join(err, h.flush(s, number))
			}
		}
		fmt.Println("built", number)
	}
	fmt.Println("end", err)
}

const killedFills = 500

// Whenever the process is killed, the next one finds files that follow each other from the first
// import to the last one that was built, or to the one after it.
func TestAKilledMergeLeavesAWholeChain(t *testing.T) {
	h, dir := history{killedFills}, t.TempDir()
	rng := rand.New(rand.NewPCG(11, 12))
	for range testfiles.Cases(4, 60) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "PMX_TEST_FLUSH_IN="+dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		built, left := int64(-1), 1+rng.IntN(6)
		for lines := bufio.NewScanner(out); left > 0 && lines.Scan(); left-- {
			if _, err := fmt.Sscanf(lines.Text(), "built %d", &built); err != nil {
				t.Fatal(lines.Text())
			}
		}
		time.Sleep(time.Duration(rng.IntN(20_000)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		stores, err := h.stores(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range stores {
			if s.Through() < built || s.Damage() != nil {
				t.Fatalf("%s: through batch %d, but %d was built; %v", filepath.Base(s.Path), s.Through(), built, s.Damage())
			}
			h.check(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// leveled returns a store of files that follow each other, with 100 fills each.
func leveled(t *testing.T, files int) (*Store, history) {
	t.Helper()
	h := history{100}
	stores, err := h.stores(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := stores[0]
	for number := range int64(files) {
		err = errors.Join(err, h.flush(s, number))
	}
	if err = errors.Join(err, stores[1].Close()); err != nil || s.Stats().Files != files {
		t.Fatalf("err = %v, s.Stats() = %+v", err, s.Stats())
	}
	return s, h
}

// If a file is missing, has another history or is damaged, the files before it are served, and none
// after it.
func TestAGapIsNeverServed(t *testing.T) {
	for name, spoil := range map[string]func(path, foreign string) error{
		"missing": func(path, _ string) error { return os.Remove(path) },
		"cut":     func(path, _ string) error { return os.Truncate(path, 5000) },
		"foreign": func(path, foreign string) error {
			b, err := os.ReadFile(foreign)
			return errors.Join(err, os.WriteFile(path, b, 0o600))
		},
	} {
		for at := range 4 {
			s, h := leveled(t, 4)
			files := s.Contents().Files.List()
			paths := make([]string, len(files))
			for i, f := range files {
				paths[i] = f.Path()
			}
			if err := errors.Join(s.Close(), spoil(paths[at], paths[(at+1)%4])); err != nil {
				t.Fatal(err)
			}
			stores, err := h.stores(filepath.Dir(s.Path))
			if err != nil {
				t.Fatal(err)
			}
			again := stores[0]
			if got, want := again.Through(), int64(at-1); got != want || name != "foreign" && again.Damage() != nil != (name == "cut") {
				t.Errorf("%s %d: through batch %d, want %d; %v", name, at, got, want, again.Damage())
			}
			h.check(t, again)
			// The next build writes what is missing, and leaves no other files.
			if err := h.flush(again, 3); err != nil {
				t.Fatal(err)
			}
			h.check(t, again)
			left, err := filepath.Glob(filepath.Join(filepath.Dir(s.Path), "wallets*.seg"))
			if err != nil || len(left) != again.Stats().Files || again.Damage() != nil {
				t.Errorf("%s %d: %v %v, %+v", name, at, left, err, again.Stats())
			}
			if err := errors.Join(again.Close(), stores[1].Close()); err != nil {
				t.Error(err)
			}
		}
	}
}

// The file of a version without several files is the first one.
func TestAFileOfBeforeIsTheFirst(t *testing.T) {
	s, h := leveled(t, 1)
	if f := s.Contents().Files.Last(); f.Follows != 0 || f.Path() != s.Path {
		t.Errorf("f.Header = %+v", f.Header)
	}
	if err := h.flush(s, 1); err != nil {
		t.Fatal(err)
	}
	if s.Stats().Files != 2 || !strings.HasSuffix(s.Contents().Files.Last().Path(), "wallets-0-1.seg") {
		t.Errorf("s.Contents().Files.Last().Path() = %s, s.Stats() = %+v", s.Contents().Files.Last().Path(), s.Stats())
	}
	h.check(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Damage of any file is noticed when it is read; then nothing is served.
func TestDamageOfALaterFile(t *testing.T) {
	s, h := leveled(t, 3)
	path := s.Contents().Files.Last().Path()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		_, err = f.WriteAt([]byte{1, 2, 3}, segments.PageSize+5)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	stores, err := h.stores(filepath.Dir(s.Path))
	if err != nil {
		t.Fatal(err)
	}
	again := stores[0]
	defer func() { _ = errors.Join(again.Close(), stores[1].Close()) }()
	if err := again.VerifyPages(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	var d *segments.Damage
	if st := again.Stats(); st.Ready || !errors.As(st.Damage, &d) || d.Path != path {
		t.Errorf("st = %+v", st)
	}
	if _, ok := again.fills(nil, 0, 2, nil, math.MaxInt32); ok {
		t.Error("fills are read from a damaged file")
	}
}

// A file that cannot be read counts as missing, and a build does not fail if one cannot be removed.
func TestWhatCannotBeReadOrRemovedEndsNothing(t *testing.T) {
	s, h := leveled(t, 4)
	path, former := s.Contents().Files.List()[2].Path(), filepath.Join(filepath.Dir(s.Path), "wallets-7-9.seg")
	err := errors.Join(s.Close(), os.Remove(path), os.Mkdir(path, 0o700), os.MkdirAll(filepath.Join(former, "kept"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	stores, err := h.stores(filepath.Dir(s.Path))
	if err != nil {
		t.Fatal(err)
	}
	again := stores[0]
	defer func() { _ = errors.Join(again.Close(), stores[1].Close()) }()
	var left []error
	again.OnLeftover = func(err error) { left = append(left, err) }
	if again.Through() != 1 {
		t.Errorf("through batch %d", again.Through())
	}
	h.check(t, again)
	if err := h.flush(again, 3); err != nil {
		t.Error(err)
	}
	h.check(t, again)
	if len(left) != 1 || !strings.Contains(left[0].Error(), filepath.Base(former)) {
		t.Errorf("not removed: left = %v", left)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v", path, err)
	}
}
