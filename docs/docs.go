// Package docs holds the texts of this folder, so that the program can show some
// of them.
package docs

import "embed"

// Files are the Markdown files of this folder.
//
//go:embed *.md
var Files embed.FS
