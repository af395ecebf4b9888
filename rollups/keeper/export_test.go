package keeper

// Bulk makes files of n fills and more count as large: they are left to a rebuild.
func (k *Keeper) Bulk(n int64) { k.importer.BulkRows = n }
