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
	"sync/atomic"
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
	parts, err := l.imagePieces()
	if err != nil {
		return err
	}
	return image.Write(to, key, parts, citiesByName(l.gazetteer()))
}

// ReadImage is Load from what WriteImage wrote with the same key. It calls PublishTraders as soon as the parts for traders are read, and are
// of the state of the database. After an error, what Live has stays; if PublishTraders was called before it, what that showed is still right.
func (l *Live) ReadImage(ctx context.Context, conn *sql.Conn, from io.ReaderAt, size int64, key []byte) error {
	next := l.successor()
	next.sections = newSections()
	parts, err := next.imagePieces()
	if err != nil {
		return err
	}
	var left atomic.Int32 // parts that traders are in and that are not read
	left.Store(int32(windowsPiece) + 1)
	whole := func(part int) error {
		if imagePiece(part) > windowsPiece || left.Add(-1) > 0 {
			return nil
		}
		return next.tradersRestored(ctx, conn)
	}
	if err := image.Read(from, size, key, parts, whole, citiesByName(next.gazetteer())); err != nil {
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

// imagePiece is a part of an image. What is in several parts is kept several times.
type imagePiece int

// The parts in the order in which reading them begins: first those with what PublishTraders shows, and with the state that the image is of.
const (
	walletsPiece imagePiece = iota
	windowsPiece
	marketsPiece
	sectionsPiece
	imagePieces
)

// imagePieces returns pointers to everything that an image has: the fields of liveData by their tags, and the sections.
func (l *Live) imagePieces() ([][]any, error) {
	parts := make([][]any, imagePieces)
	named := map[string]imagePiece{"wallets": walletsPiece, "windows": windowsPiece, "markets": marketsPiece}
	all := reflect.ValueOf(&l.liveData).Elem()
	for i := range all.NumField() {
		f := all.Type().Field(i)
		tag := f.Tag.Get("image")
		if tag == "-" {
			continue
		}
		part, known := named[tag]
		if !known {
			return nil, fmt.Errorf("field %s of liveData is in no part of an image", f.Name)
		}
		parts[part] = append(parts[part], reflect.NewAt(f.Type, unsafe.Pointer(all.Field(i).UnsafeAddr())).Interface())
	}
	for _, p := range l.sections {
		parts[sectionsPiece] = append(parts[sectionsPiece], p)
	}
	return parts, nil
}

// tradersRestored shows traders once their parts of an image are read, unless these are not of the state of the database.
func (l *Live) tradersRestored(ctx context.Context, conn *sql.Conn) error {
	if err := l.matches(ctx, conn); err != nil {
		return err
	}
	l.next = l.progress
	return l.showTraders()
}

// restored completes what an image does not have.
func (l *Live) restored() {
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
