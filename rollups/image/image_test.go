package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

type leaf struct {
	A int64
	B int8
	C [9]uint16
}

type node struct {
	Name   string
	Tags   []string
	Leaf   *leaf
	Small  *int64
	Leaves []leaf
	By     map[string]*leaf
	Set    map[int32]bool
	Left   int `image:"-"`
	Rest   []*leaf
	Lists  [2][]int32
	Fixed  *[40]leaf
	Zone   place
}

type place struct {
	Name string
	loc  *time.Location
}

type root struct {
	Nodes  []*node
	Same   *node
	List   []int32
	Other  []int32
	Nil    []string
	Empty  []string
	NilMap map[int]int
	Table  atomic.Pointer[[]int32]
	Slots  []atomic.Uint32
	On     bool
}

var zones = Named{Type: reflect.TypeFor[place](), Name: func(v any) string { return v.(*place).Name },
	Find: func(name string, v any) bool {
		if name != "" {
			v.(*place).Name, v.(*place).loc = name, time.UTC
		}
		return name != "nowhere"
	}}

func sampled(r *rand.Rand, nodes int) *root {
	out := &root{Empty: []string{}, On: true}
	text := func() string { return strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(40)) }
	for range nodes {
		n := &node{Name: text(), Left: 7, Leaf: &leaf{A: r.Int64()}, By: map[string]*leaf{}, Set: map[int32]bool{}}
		for range r.IntN(5) {
			n.Tags, n.Leaves = append(n.Tags, text()), append(n.Leaves, leaf{A: r.Int64(), B: 1})
			n.By[text()] = n.Leaf
			n.Set[r.Int32()] = true
			n.Rest = append(n.Rest, nil, n.Leaf)
		}
		if r.IntN(2) == 0 {
			small := r.Int64()
			n.Small, n.Fixed = &small, &[40]leaf{{A: 9}}
			n.Zone = place{Name: "here", loc: time.UTC}
		}
		n.Lists[1] = make([]int32, r.IntN(300), 400)
		out.Nodes = append(out.Nodes, n)
	}
	out.Same = out.Nodes[nodes/2]
	out.List = make([]int32, 100_000)
	for i := range out.List {
		out.List[i] = r.Int32()
	}
	out.Other = out.List
	out.Table.Store(&out.List)
	out.Slots = make([]atomic.Uint32, 50)
	out.Slots[3].Store(8)
	return out
}

func written(t testing.TB, key string, parts ...[]any) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, []byte(key), parts, zones); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readBack(b []byte, key string, parts ...[]any) error {
	return Read(bytes.NewReader(b), int64(len(b)), []byte(key), parts, nil, zones)
}

func TestWhatIsReadEqualsWhatWasWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	in, second := sampled(r, 500), sampled(r, 3)
	var out, other root
	if err := readBack(written(t, "key", []any{in}, []any{second}), "key", []any{&out}, []any{&other}); err != nil {
		t.Fatal(err)
	}
	for _, n := range append(in.Nodes, second.Nodes...) {
		n.Left = 0
	}
	if !slices.Equal(*out.Table.Load(), in.List) || &(*out.Table.Load())[0] != &out.List[0] {
		t.Error("what an atomic pointer points to differs")
	}
	for _, r := range []*root{in, second, &out, &other} {
		r.Table.Store(nil)
	}
	if !reflect.DeepEqual(in, &out) || !reflect.DeepEqual(second, &other) {
		t.Fatal("what was read differs")
	}
	if out.Same != out.Nodes[250] || &out.List[0] != &out.Other[0] {
		t.Error("what shared memory does not share it any more")
	}
	for _, n := range out.Nodes {
		for _, l := range n.By {
			if l != n.Leaf {
				t.Fatal("a leaf is there twice")
			}
		}
		if len(n.Lists[1]) > 100 && cap(n.Lists[1]) == len(n.Lists[1]) {
			t.Fatal("a list that had room has none")
		}
	}
}

func TestWhatCannotBeKeptIsRefused(t *testing.T) {
	type loop struct{ Next *loop }
	for path, v := range map[string]any{
		"struct { F func() }.F":             &struct{ F func() }{},
		"struct { C []chan int }.C[]":       &struct{ C []chan int }{},
		"struct { I interface {} }.I":       &struct{ I any }{},
		"struct { M sync.Mutex }.M":         &struct{ M sync.Mutex }{},
		"struct { P *sync.Pool }.P.*":       &struct{ P *sync.Pool }{},
		"struct { S maphash.Seed }.S":       &struct{ S maphash.Seed }{},
		"struct { T map[int]time.Time }.T[": &struct{ T map[int]time.Time }{},
		"struct { U unsafe.Pointer }.U":     &struct{ U unsafe.Pointer }{},
		"struct { N uintptr }.N":            &struct{ N uintptr }{},
		"image.loop.Next.*":                 &loop{},
	} {
		var b bytes.Buffer
		err := Write(&b, nil, [][]any{{v}})
		if !errors.Is(err, errKind) || !strings.Contains(err.Error(), path) || b.Len() > 0 {
			t.Errorf("%s: %v, %d bytes written", path, err, b.Len())
		}
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	in := sampled(r, 100)
	whole := written(t, "key", []any{in}, []any{&in.List})
	try := func(b []byte, key string) error {
		var out root
		var list []int32
		return readBack(b, key, []any{&out}, []any{&list})
	}
	if err := try(whole, "key"); err != nil {
		t.Fatal(err)
	}
	if err := try(whole, "kez"); !errors.Is(err, ErrOther) {
		t.Errorf("another key: %v", err)
	}
	refused := func(what string, b []byte) {
		t.Helper()
		if err := try(b, "key"); err == nil {
			t.Errorf("%s was read", what)
		}
	}
	for range 300 {
		b := bytes.Clone(whole)
		b[r.IntN(len(b))] ^= byte(1 + r.IntN(255))
		refused("a file with another byte", b)
		refused("a file cut short", whole[:r.IntN(len(whole))])
	}
	refused("a file with more at its end", append(bytes.Clone(whole), 0))
	refused("an empty file", nil)
	refused("a foreign file", bytes.Repeat([]byte("PAR1"), 1000))
	var out root
	if err := readBack(whole, "key", []any{&out}); err == nil {
		t.Error("a file with more parts was read")
	}
}

// Each part is announced once, when all of it is there; a damaged one is not. The error of the callback ends the reading.
func TestPartsAreAnnouncedOnceTheyAreWhole(t *testing.T) {
	in := sampled(rand.New(rand.NewPCG(11, 12)), 100)
	whole := written(t, "key", []any{in}, []any{&in.List}, []any{&in.Other})
	refused := errors.New("refused")
	begins := func(b []byte, part int) int {
		return int(binary.LittleEndian.Uint64(b[len(b)-tailEnd-tailPart*(3-part):]))
	}
	for name, c := range map[string]struct {
		damaged int // part; -1: none
		refuse  int // part; -1: none
		want    error
	}{
		"a whole file":         {-1, -1, nil},
		"the first is damaged": {0, -1, ErrDamaged},
		"the last is damaged":  {2, -1, ErrDamaged},
		"the first is refused": {-1, 0, refused},
	} {
		b := bytes.Clone(whole)
		if c.damaged >= 0 {
			b[begins(b, c.damaged)+blockHead]++
		}
		var out root
		var list, other []int32
		var seen sync.Map
		read := func(part int) error {
			if part == 0 && len(out.Nodes) != len(in.Nodes) || part == 1 && !slices.Equal(list, in.List) || part == 2 && !slices.Equal(other, in.Other) {
				t.Errorf("%s: part %d is announced before it is there", name, part)
			}
			if _, twice := seen.LoadOrStore(part, true); twice {
				t.Errorf("%s: part %d is announced twice", name, part)
			}
			if part == c.refuse {
				return refused
			}
			return nil
		}
		err := Read(bytes.NewReader(b), int64(len(b)), []byte("key"), [][]any{{&out}, {&list}, {&other}}, read, zones)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, there := seen.Load(c.damaged); there {
			t.Errorf("%s: it is announced", name)
		}
		for part := range 3 {
			if _, there := seen.Load(part); !there && c.want == nil {
				t.Errorf("%s: part %d is not announced", name, part)
			}
		}
	}
}

// errWriter fails after so many bytes.
type errWriter struct{ left int }

var errFull = errors.New("full")

func (w *errWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestAnErrorOfTheWriterIsGiven(t *testing.T) {
	in := sampled(rand.New(rand.NewPCG(5, 6)), 100)
	for _, left := range []int{0, 100, 300_000} {
		if err := Write(&errWriter{left}, nil, [][]any{{in}}, zones); !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: %v", left, err)
		}
	}
}

// FuzzAPart reads arbitrary bytes whose checksums are right: there is an error, or a value that can be written again.
func FuzzAPart(f *testing.F) {
	in := sampled(rand.New(rand.NewPCG(7, 8)), 2)
	in.List = in.List[:5]
	in.Other, in.Nodes[1].Lists = in.List, in.Nodes[0].Lists
	plans, places, err := plansOf([][]any{{in}}, []Named{zones})
	if err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if err := writePart(&b, []any{in}, plans[0], places); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		var out root
		if read(b, &out, plans[0], places) != nil {
			return
		}
		var again bytes.Buffer
		if err := writePart(&again, []any{&out}, plans[0], places); err != nil {
			t.Fatal(err)
		}
		if again.Len() > 64*len(b)+1024 {
			t.Errorf("%d bytes became %d", len(b), again.Len())
		}
	})
}

// read reads a part from bytes, in blocks of 7.
func read(b []byte, into any, plans []*plan, places int) (err error) {
	defer caught(&err)
	rest := b
	d := newDecoder(func() ([]byte, error) {
		n := min(7, len(rest))
		block := rest[:n]
		rest = rest[n:]
		return block, nil
	}, int64(len(b)), places)
	plans[0].read(d, reflect.ValueOf(into).UnsafePointer())
	return nil
}

func BenchmarkRead(b *testing.B) {
	in := sampled(rand.New(rand.NewPCG(9, 10)), 100_000)
	file := written(b, "", []any{in})
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		var out root
		if err := readBack(file, "", []any{&out}); err != nil {
			b.Fatal(err)
		}
	}
}
