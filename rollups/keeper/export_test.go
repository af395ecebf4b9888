package keeper

import (
	"context"
	"database/sql"
)

// Bulk makes files of n fills and more count as large: they are left to a rebuild.
func (k *Keeper) Bulk(n int64) { k.importer.BulkRows = n }

// Rested makes replaced fills reason enough to write the file in wallet order now.
func (k *Keeper) Rested() { k.wallets.took = 0 }

// Renew forgets the file in wallet order and writes it from all facts.
func (k *Keeper) Renew(ctx context.Context) error {
	err := k.db.Write(ctx, func(conn *sql.Conn) error { return k.wallets.restart(ctx, conn) })
	if err != nil {
		return err
	}
	return k.buildWallets(ctx)
}
