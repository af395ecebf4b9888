//go:build !linux

// Command soak tests pmx under faults. It supports only Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "soak: only Linux is supported")
	os.Exit(1)
}
