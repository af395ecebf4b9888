package data

import "errors"

// ErrElsewhere is returned for what is read from single fills if there are none: the rollups were computed
// elsewhere, from a lake that has them and was not given.
var ErrElsewhere = errors.New("single fills are not here: the rollups were computed elsewhere")
