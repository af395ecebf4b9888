package engine

import "fmt"

// ForeignError says that a data directory is closed to this user.
type ForeignError struct {
	Dir    Dir
	Closed string // the directory, or the folder above it that is closed
	Owner  string // whose Closed is: a name, or the number of a user without one
	User   string // this user
}

// Error names both users, and says what to do.
func (e *ForeignError) Error() string {
	if e.Closed != string(e.Dir) {
		return fmt.Sprintf("%s is in %s, which belongs to user %s and is closed to %s: run pmx as the user that owns the data directory", e.Dir, e.Closed, e.Owner, e.User)
	}
	return fmt.Sprintf("%s belongs to user %s, and this is %s: run pmx as user %[2]s", e.Dir, e.Owner, e.User)
}
