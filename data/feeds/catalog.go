package feeds

import (
	"io"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/data/reference"
)

// Catalog has every feed that the program knows, for imports.
type Catalog struct {
	// Cities are the places that feeds of the weather name; nil: the built-in ones.
	Cities *data.Gazetteer
}

// Head works out the format of a file and what its first record looks like: see ReadHead.
func (Catalog) Head(path string) (data.Head, error) { return ReadHead(path) }

// Open opens a file and decompresses it.
func (Catalog) Open(path string) (io.ReadCloser, error) { return Open(path) }

// Detect returns the one feed that h is of: see the errors of the function Detect.
func (Catalog) Detect(h data.Head) (data.Feed, error) { return Detect(h) }

// ByName returns the feed of that name.
func (Catalog) ByName(name string) (data.Feed, error) { return ByName(name) }

// Fits reports whether a file that begins with h may be read as f, which somebody named: a
// *MisfitError or a *ForeignError if it may not.
func (Catalog) Fits(f data.Feed, h data.Head) error { return Fits(f, h) }

// Explain returns the sentence of a reason that feeds reject rows for, "" if it has none.
func (Catalog) Explain(reason string) string { return shape.Detail(reason) }

// Gazetteer returns the places that feeds may name, never nil.
func (c Catalog) Gazetteer() *data.Gazetteer {
	if c.Cities == nil {
		return reference.Gazetteer()
	}
	return c.Cities
}
