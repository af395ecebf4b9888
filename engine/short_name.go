package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// maxName is the longest name in bytes that ShortName returns: with a time before it and an
// extension after it, it stays within the limits of file systems.
const maxName = 100

// ShortName returns the name of a file as part of another file's name: the name itself if it is
// short, else its beginning, a hash of the whole name, and its extension.
func ShortName(name string) string {
	if len(name) <= maxName {
		return name
	}
	ext := filepath.Ext(name)
	if ext == ".gz" || ext == ".zst" {
		ext = filepath.Ext(strings.TrimSuffix(name, ext)) + ext
	}
	if len(ext) > maxName/4 {
		ext = ""
	}
	sum := sha256.Sum256([]byte(name))
	tail := "-" + hex.EncodeToString(sum[:6]) + ext
	return strings.ToValidUTF8(name[:maxName-len(tail)], "") + tail
}
