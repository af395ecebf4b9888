package wire

import "embed"

// source is the Go source of this package. The comments on its fields are the field descriptions
// of the OpenAPI document.
//
//go:embed *.go
var source embed.FS

// Source returns the Go source of this package, tests included, for callers that read the comments.
func Source() embed.FS { return source }
