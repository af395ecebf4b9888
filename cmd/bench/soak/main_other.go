//go:build !linux

// Command soak tries pmx under faults. It knows Linux only.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "soak: it runs on Linux only")
	os.Exit(1)
}
