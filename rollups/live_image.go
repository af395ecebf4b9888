package rollups

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"unsafe"

	"pmx/data"
	"pmx/rollups/image"
)

// ErrNotCurrent is the error of an image of a Live that does not show the state of the database.
var ErrNotCurrent = errors.New("what is served is not the state of the database")

// ImageSettings are the settings that what Live reads depends on, for the key of an image.
func (l *Live) ImageSettings() string {
	venue := slices.SortedFunc(maps.Keys(l.Venue), func(a, b data.Address) int { return bytes.Compare(a[:], b[:]) })
	return fmt.Sprintf("venue %x cities %s", venue, deskVersionOf(l.gazetteer()))
}

// Current reports ErrNotCurrent unless Live has exactly the state of the database on conn.
func (l *Live) Current(ctx context.Context, conn *sql.Conn) error {
	if l.walletBuilder == nil || l.incomplete || len(l.early) > 0 {
		return ErrNotCurrent
	}
	return l.matches(ctx, conn)
}

// WriteImage writes what Live has read, for ReadImage. It has to be Current, and stay so meanwhile. key says what has to be the same besides the
// data: the program, the database, and the settings.
func (l *Live) WriteImage(to io.Writer, key []byte) error {
	halves, err := l.imageHalves()
	if err != nil {
		return err
	}
	return image.Write(to, key, halves, citiesByName(l.gazetteer()))
}

// ReadImage is Load from what WriteImage wrote with the same key. After an error, what Live has stays.
func (l *Live) ReadImage(ctx context.Context, conn *sql.Conn, from io.ReaderAt, size int64, key []byte) error {
	next := &Live{Publish: l.Publish, Venue: l.Venue, Cities: l.Cities, quoted: l.quoted, lineage: l.lineage}
	next.sections = newSections()
	halves, err := next.imageHalves()
	if err != nil {
		return err
	}
	if err := image.Read(from, size, key, halves, citiesByName(next.gazetteer())); err != nil {
		return err
	}
	if err := next.matches(ctx, conn); err != nil {
		return err
	}
	next.restored()
	if err := next.publish(ctx, conn); err != nil {
		return err
	}
	l.liveData = next.liveData
	l.current.Store(next.Snapshot())
	return nil
}

// matches reports an error unless Live has the state of the database.
func (l *Live) matches(ctx context.Context, conn *sql.Conn) error {
	s, err := readProgress(ctx, conn)
	if err == nil && (s != l.progress || s.stale) {
		err = ErrNotCurrent
	}
	return err
}

// imageHalf is one of the two parts of an image. What is in both is kept twice.
type imageHalf int

const (
	walletsHalf imageHalf = iota
	marketsHalf
)

// imageHalves returns pointers to everything that an image has: the fields of liveData by their tags, and the sections.
func (l *Live) imageHalves() ([][]any, error) {
	halves := make([][]any, marketsHalf+1)
	all := reflect.ValueOf(&l.liveData).Elem()
	for i := range all.NumField() {
		f := all.Type().Field(i)
		to := reflect.NewAt(f.Type, unsafe.Pointer(all.Field(i).UnsafeAddr())).Interface()
		switch half := f.Tag.Get("image"); half {
		case "wallets":
			halves[walletsHalf] = append(halves[walletsHalf], to)
		case "markets":
			halves[marketsHalf] = append(halves[marketsHalf], to)
		case "-":
		default:
			return nil, fmt.Errorf("field %s of liveData is in no part of an image", f.Name)
		}
	}
	for _, p := range l.sections {
		half := marketsHalf
		if _, apart := p.(asideSection); apart {
			half = walletsHalf
		}
		halves[half] = append(halves[half], p)
	}
	return halves, nil
}

// restored completes what an image does not have.
func (l *Live) restored() {
	l.next = l.progress
	l.tokenIDs = tokenIDsOf(l.tokens)
	l.catalog.Restored()
	for _, p := range l.sections {
		switch p := p.(type) {
		case *oracleSection:
			p.builder.Restored(l.walletBuilder.Wallets())
		case *screenerSection:
			p.builder.Restored()
		}
	}
}

// citiesByName makes cities be kept as their slugs: they come from the table of cities.
func citiesByName(g *data.Gazetteer) image.Named {
	return image.Named{
		Type: reflect.TypeFor[data.City](),
		Name: func(v any) string { return v.(*data.City).Slug },
		Find: func(slug string, v any) bool {
			city, known := g.City(slug)
			*v.(*data.City) = city
			return known
		},
	}
}
