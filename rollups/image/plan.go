// Package image writes values of Go to a file, from which a later process of the same program reads them back in a fraction of the time that
// it would take to compute them again. Memory without pointers is copied as it is, so a file means something only to the program that wrote
// it: the caller puts into the key whatever has to be the same.
//
// Of pointers, slices and long strings that share memory, one copy is written, and they share memory again when they are read. A pointer into
// another value becomes a pointer to a copy. A field with the tag `image:"-"` is left out, and is zero when it is read. Channels, functions,
// interfaces, locks and what else cannot be kept are refused before anything is written.
package image

import (
	"errors"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"
)

// Named makes values of a type be written as names.
type Named struct {
	Type reflect.Type
	// Name returns the name of a value, which v points to.
	Name func(v any) string
	// Find sets the value that v points to; false if the name is unknown.
	Find func(name string, v any) bool
}

// plan says how values of a type are written and read.
type plan struct {
	of    reflect.Type
	size  int
	flat  bool // without pointers: its memory is copied
	least int  // bytes that a value takes in a file, at least
	place int  // among the plans whose values are written once
	write func(e *encoder, p unsafe.Pointer)
	read  func(d *decoder, p unsafe.Pointer)
}

// planner makes plans, each once.
type planner struct {
	named  []Named
	plans  map[reflect.Type]*plan
	under  []reflect.Type // types whose plans are being made
	places int
}

func newPlanner(named []Named) *planner {
	return &planner{named: named, plans: map[reflect.Type]*plan{}}
}

var errKind = errors.New("cannot be kept in an image")

// of returns the plan of a type. path is where in a value the type is, for errors.
func (p *planner) of(t reflect.Type, path string) (*plan, error) {
	if known := p.plans[t]; known != nil {
		return known, nil
	}
	if slices.Contains(p.under, t) {
		return nil, fmt.Errorf("%s: %v contains itself: %w", path, t, errKind)
	}
	p.under = append(p.under, t)
	defer func() { p.under = p.under[:len(p.under)-1] }()
	made := &plan{of: t, size: int(t.Size())}
	if err := p.make(made, t, path); err != nil {
		return nil, err
	}
	if made.flat {
		made.least, made.write, made.read = made.size, made.writeFlat, made.readFlat
	}
	p.plans[t] = made
	return made, nil
}

// refused are types that could be copied, but would be wrong or useless in another process.
var refused = []reflect.Type{reflect.TypeFor[maphash.Seed](), reflect.TypeFor[time.Location](), reflect.TypeFor[time.Time]()}

func (p *planner) make(made *plan, t reflect.Type, path string) error {
	for i := range p.named {
		if p.named[i].Type == t {
			p.byName(made, &p.named[i])
			return nil
		}
	}
	if slices.Contains(refused, t) || t.PkgPath() == "sync" {
		return fmt.Errorf("%s: %v: %w", path, t, errKind)
	}
	if t.PkgPath() == "sync/atomic" && strings.HasPrefix(t.Name(), "Pointer[") {
		return p.atomicPointer(made, t, path)
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16,
		reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		made.flat = true
		return nil
	case reflect.String:
		made.least, made.write, made.read = 1, (*encoder).text, (*decoder).text
		return nil
	case reflect.Pointer:
		return p.pointer(made, t.Elem(), path)
	case reflect.Slice:
		return p.slice(made, t, path)
	case reflect.Array:
		return p.array(made, t, path)
	case reflect.Map:
		return p.mapping(made, t, path)
	case reflect.Struct:
		return p.structure(made, t, path)
	}
	return fmt.Errorf("%s: %v: %w", path, t, errKind)
}

func (p *planner) byName(made *plan, n *Named) {
	made.least = 1
	made.write = func(e *encoder, at unsafe.Pointer) {
		name := n.Name(reflect.NewAt(n.Type, at).Interface())
		e.count(len(name))
		e.bytes([]byte(name))
	}
	made.read = func(d *decoder, at unsafe.Pointer) {
		name := make([]byte, d.length(1))
		d.bytes(name)
		if !n.Find(string(name), reflect.NewAt(n.Type, at).Interface()) {
			d.fail("%v %q is unknown", n.Type, name)
		}
	}
}

// smallValue is up to how many bytes a value without pointers is copied for each pointer to it.
const smallValue = 16

func (p *planner) pointer(made *plan, elem reflect.Type, path string) error {
	of, err := p.of(elem, path+".*")
	if err != nil {
		return err
	}
	made.least = 1
	if of.flat && of.size <= smallValue {
		made.write = func(e *encoder, at unsafe.Pointer) {
			to := *(*unsafe.Pointer)(at)
			if to == nil {
				e.count(0)
				return
			}
			e.count(1)
			of.write(e, to)
		}
		made.read = func(d *decoder, at unsafe.Pointer) {
			switch d.number() {
			case 0:
			case 1:
				to := newValue(of)
				of.read(d, to)
				*(*unsafe.Pointer)(at) = to
			default:
				d.fail("a pointer to %v is neither nil nor set", of.of)
			}
		}
		return nil
	}
	made.place = p.next()
	made.write = func(e *encoder, at unsafe.Pointer) { e.pointer(made.place, of, *(*unsafe.Pointer)(at)) }
	made.read = func(d *decoder, at unsafe.Pointer) { *(*unsafe.Pointer)(at) = d.pointer(made.place, of) }
	return nil
}

func (p *planner) atomicPointer(made *plan, t reflect.Type, path string) error {
	of, err := p.of(t.Field(0).Type.Elem().Elem(), path+".*")
	if err != nil {
		return err
	}
	made.least, made.place = 1, p.next()
	made.write = func(e *encoder, at unsafe.Pointer) {
		e.pointer(made.place, of, atomic.LoadPointer((*unsafe.Pointer)(at)))
	}
	made.read = func(d *decoder, at unsafe.Pointer) {
		atomic.StorePointer((*unsafe.Pointer)(at), d.pointer(made.place, of))
	}
	return nil
}

func (p *planner) next() int { p.places++; return p.places - 1 }

func (p *planner) slice(made *plan, t reflect.Type, path string) error {
	of, err := p.of(t.Elem(), path+"[]")
	if err != nil {
		return err
	}
	made.least, made.place = 1, p.next()
	made.write = func(e *encoder, at unsafe.Pointer) { e.slice(made.place, of, (*sliceHeader)(at)) }
	made.read = func(d *decoder, at unsafe.Pointer) { d.slice(made.place, of, (*sliceHeader)(at)) }
	return nil
}

func (p *planner) array(made *plan, t reflect.Type, path string) error {
	of, err := p.of(t.Elem(), path+"[]")
	if err != nil {
		return err
	}
	n := t.Len()
	made.flat, made.least = of.flat, n*of.least
	made.write = func(e *encoder, at unsafe.Pointer) {
		for i := range n {
			of.write(e, unsafe.Add(at, i*of.size))
		}
	}
	made.read = func(d *decoder, at unsafe.Pointer) {
		for i := range n {
			of.read(d, unsafe.Add(at, i*of.size))
		}
	}
	return nil
}

func (p *planner) mapping(made *plan, t reflect.Type, path string) error {
	key, err := p.of(t.Key(), path+"[key]")
	if err != nil {
		return err
	}
	value, err := p.of(t.Elem(), path+"[]")
	if err != nil {
		return err
	}
	made.least = 1
	made.write = func(e *encoder, at unsafe.Pointer) {
		m := reflect.NewAt(t, at).Elem()
		if m.IsNil() {
			e.count(0)
			return
		}
		e.count(1)
		e.count(m.Len())
		k, v := reflect.New(t.Key()), reflect.New(t.Elem())
		for pairs := m.MapRange(); pairs.Next(); {
			k.Elem().SetIterKey(pairs)
			v.Elem().SetIterValue(pairs)
			key.write(e, k.UnsafePointer())
			value.write(e, v.UnsafePointer())
		}
	}
	made.read = func(d *decoder, at unsafe.Pointer) {
		switch d.number() {
		case 0:
			return
		case 1:
		default:
			d.fail("a %v is neither nil nor made", t)
		}
		n := d.length(max(1, key.least+value.least))
		m := reflect.MakeMapWithSize(t, n)
		k, v := reflect.New(t.Key()), reflect.New(t.Elem())
		for range n {
			k.Elem().SetZero()
			v.Elem().SetZero()
			key.read(d, k.UnsafePointer())
			value.read(d, v.UnsafePointer())
			m.SetMapIndex(k.Elem(), v.Elem())
		}
		reflect.NewAt(t, at).Elem().Set(m)
	}
	return nil
}

// fieldRange is a range of a struct: fields without pointers, which are copied together, or one other field.
type fieldRange struct {
	at, size int
	of       *plan // nil: memory without pointers
}

func (p *planner) structure(made *plan, t reflect.Type, path string) error {
	var ranges []fieldRange
	left := false
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("image") == "-" {
			left = true
			continue
		}
		of, err := p.of(f.Type, path+"."+f.Name)
		if err != nil {
			return err
		}
		made.least += of.least
		at := int(f.Offset)
		if !of.flat {
			ranges = append(ranges, fieldRange{at: at, of: of})
		} else if n := len(ranges); n > 0 && ranges[n-1].of == nil && i > 0 && t.Field(i-1).Tag.Get("image") != "-" {
			ranges[n-1].size = at + of.size - ranges[n-1].at
		} else {
			ranges = append(ranges, fieldRange{at: at, size: of.size})
		}
	}
	made.flat = !left && !slices.ContainsFunc(ranges, func(s fieldRange) bool { return s.of != nil })
	made.write = func(e *encoder, at unsafe.Pointer) {
		for i := range ranges {
			if s := &ranges[i]; s.of != nil {
				s.of.write(e, unsafe.Add(at, s.at))
			} else {
				e.bytes(unsafe.Slice((*byte)(unsafe.Add(at, s.at)), s.size))
			}
		}
	}
	made.read = func(d *decoder, at unsafe.Pointer) {
		for i := range ranges {
			if s := &ranges[i]; s.of != nil {
				s.of.read(d, unsafe.Add(at, s.at))
			} else {
				d.bytes(unsafe.Slice((*byte)(unsafe.Add(at, s.at)), s.size))
			}
		}
	}
	return nil
}

func (p *plan) writeFlat(e *encoder, at unsafe.Pointer) { e.bytes(unsafe.Slice((*byte)(at), p.size)) }

func (p *plan) readFlat(d *decoder, at unsafe.Pointer) { d.bytes(unsafe.Slice((*byte)(at), p.size)) }
