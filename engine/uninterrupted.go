package engine

import (
	"context"
	"reflect"
)

// Uninterrupted returns a context for short statements. The end of ctx is noticed before each of
// them, and none is interrupted: to be able to interrupt, the driver starts a goroutine for every
// statement and waits for it, and database/sql another for every query. On a locked thread, as in
// Write, each of these costs two thread switches.
func Uninterrupted(ctx context.Context) context.Context { return uninterrupted{ctx} }

type uninterrupted struct{ context.Context }

// Done is nil: there is no end to wait for.
func (uninterrupted) Done() <-chan struct{} { return nil }

// Value answers the driver's key for statements whose interruption is handled elsewhere. A driver
// with another key starts its goroutines as before.
func (c uninterrupted) Value(key any) any {
	if t := reflect.TypeOf(key); t != nil && t.Kind() == reflect.Struct && t.Name() == "interruptActiveKey" &&
		t.PkgPath() == "github.com/duckdb/duckdb-go/v2" {
		return true
	}
	return c.Context.Value(key)
}
