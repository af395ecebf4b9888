package engine

// #include <stdlib.h>
import "C"

import (
	"fmt"
	"unsafe"
)

// Unmanaged returns memory outside of Go's heap for n zero values of a type that has no pointers: the collector neither counts nor
// reads it. Its pages take memory once they are written to. free returns all of it, after which nothing may use values. The error
// is ErrMemory.
func Unmanaged[T any](n int) (values []T, free func(), err error) {
	if n == 0 {
		return nil, func() {}, nil
	}
	var one T
	p := C.calloc(C.size_t(n), C.size_t(unsafe.Sizeof(one)))
	if p == nil {
		return nil, nil, fmt.Errorf("%w: %d values of %d bytes", ErrMemory, n, unsafe.Sizeof(one))
	}
	return unsafe.Slice((*T)(p), n), func() { C.free(p) }, nil
}
