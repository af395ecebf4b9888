package data

import "errors"

// ErrElsewhere is returned by reads of single fills if the database has none: its rollups were computed
// elsewhere, from a lake that was not given.
var ErrElsewhere = errors.New("single fills are not here: the rollups were computed elsewhere")
