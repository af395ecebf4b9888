package keeper

// Bulk makes files of n fills and more count as large: they are left to a rebuild.
func (k *Keeper) Bulk(n int64) { k.importer.BulkRows = n }

// Rested makes replaced fills reason enough to write the file in wallet order now.
func (k *Keeper) Rested() { k.wallets.took = 0 }
