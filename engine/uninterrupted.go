package engine

import (
	"context"
	"reflect"
)

// Uninterrupted returns a context for statements that are short. The end of ctx is noticed before
// each of them, and none is interrupted: to be able to, the driver begins a goroutine for every
// statement and waits for it, and database/sql another for every query. On a thread of its own, as
// Write has, each is a switch to another thread and one back.
func Uninterrupted(ctx context.Context) context.Context { return uninterrupted{ctx} }

type uninterrupted struct{ context.Context }

// Done says that nobody need wait for the end.
func (uninterrupted) Done() <-chan struct{} { return nil }

// Value has the driver's mark of a statement that somebody interrupts already. A driver with
// another mark begins its goroutines as before.
func (c uninterrupted) Value(key any) any {
	if t := reflect.TypeOf(key); t != nil && t.Kind() == reflect.Struct && t.Name() == "interruptActiveKey" &&
		t.PkgPath() == "github.com/duckdb/duckdb-go/v2" {
		return true
	}
	return c.Context.Value(key)
}
