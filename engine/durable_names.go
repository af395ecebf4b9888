package engine

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// named makes the names of files in the data directory durable. DuckDB syncs its log and its file,
// but never the folder in which it creates and removes them. ext4 and XFS keep the name with the
// file; POSIX does not promise it.
type named struct {
	dir  string
	sync func(dir string) error

	mu     sync.Mutex
	synced time.Time // the folder's modification time at the last sync
}

// last syncs the folder if a name in it was created or removed since the last sync, which is once
// for each checkpoint.
func (n *named) last() error {
	if n.sync == nil { // of a replica, which writes nothing
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	info, err := os.Stat(n.dir)
	if err == nil && info.ModTime().Equal(n.synced) {
		return nil
	}
	if err == nil {
		err = n.sync(n.dir)
	}
	if err != nil {
		return fmt.Errorf("the names of the files in %s may not survive a power failure: %w", n.dir, err)
	}
	n.synced = info.ModTime()
	return nil
}
