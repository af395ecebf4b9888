package wire

import "embed"

// source is this package's own text: the comments on its fields are what the
// OpenAPI document says of them.
//
//go:embed *.go
var source embed.FS

// Source is the Go text of this package, tests included, for callers that want to
// read the comments.
func Source() embed.FS { return source }
