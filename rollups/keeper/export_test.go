package keeper

import (
	"context"
	"database/sql"
)

// Bulk makes files of n fills and more count as large: they are left to a rebuild.
func (k *Keeper) Bulk(n int64) { k.importer.BulkRows = n }

// Rested makes replaced fills reason enough to write new files now.
func (k *Keeper) Rested() { k.runs.took = 0 }

// Renew forgets the files below runs/ and writes them from the whole database.
func (k *Keeper) Renew(ctx context.Context) error {
	err := k.db.Write(ctx, func(conn *sql.Conn) error { return k.runs.restart(ctx, conn) })
	if err != nil {
		return err
	}
	return k.buildRuns(ctx, k.runs, false)
}

// Warmed tells whether merging has its memory.
func (k *Keeper) Warmed() bool { return k.merger.Warmed() }

// Follow makes what follows committed batches do so, or miss them.
func (k *Keeper) Follow(on bool) {
	k.importer.Rollups.Absorb = nil
	if on {
		k.importer.Rollups.Absorb = k.absorb
	}
}
