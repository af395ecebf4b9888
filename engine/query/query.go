// Package query reads what the snapshot in memory does not hold: the long tail of
// one wallet, one market, one event. One file per vertical; every statement has a
// LIMIT and a total order.
package query

import "pmx/engine"

// Reader reads from the database, beside the writer and without waiting for it.
type Reader struct{ DB *engine.DB }
