package feeds

import (
	"io"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/data/reference"
)

// Catalog gives imports access to all feeds.
type Catalog struct {
	// Cities are the places that feeds of the weather may name; nil: the built-in ones.
	Cities *data.Gazetteer
}

// Head determines the format of a file and the shape of its first record: see ReadHead.
func (Catalog) Head(path string) (data.Head, error) { return ReadHead(path) }

// Open opens a file and decompresses it.
func (Catalog) Open(path string) (io.ReadCloser, error) { return Open(path) }

// Detect returns the feed that h belongs to; see the function Detect for its errors.
func (Catalog) Detect(h data.Head) (data.Feed, error) { return Detect(h) }

// ByName returns the feed of that name.
func (Catalog) ByName(name string) (data.Feed, error) { return ByName(name) }

// Fits checks whether a file that begins with h may be read as f, which the user named. The error
// is a *MisfitError or a *ForeignError.
func (Catalog) Fits(f data.Feed, h data.Head) error { return Fits(f, h) }

// Explain returns the sentence that explains a reject reason; "" if there is none.
func (Catalog) Explain(reason string) string { return shape.Detail(reason) }

// Gazetteer returns the places that feeds may name, never nil.
func (c Catalog) Gazetteer() *data.Gazetteer {
	if c.Cities == nil {
		return reference.Gazetteer()
	}
	return c.Cities
}
