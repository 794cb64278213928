package checked

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrDamaged is that a file of the table does not hold what was written to it.
var ErrDamaged = errors.New("damaged")

// Damaged is the error for what a file of the table should hold and does not.
func Damaged(path, format string, args ...any) error {
	return fmt.Errorf("table: %s: %w: "+format+": %s", append(append([]any{path, ErrDamaged}, args...), Cure)...)
}

// Cure is what an operator can do about damaged files of the table. The names are those
// that the node gives its directory.
const Cure = "restore the node's directory from a copy; or, if a majority of the cluster's nodes runs, delete its directory raft, " +
	"and the node gets the table from them; or, if the node is a cluster of its own, delete raft and cluster.json, and it founds a new one with its data"

// Guard runs f and returns a panic of it as an error. bbolt panics, or reads beyond the
// end of a mapped file, where a file is not as it wrote it.
func Guard(path string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = Damaged(path, "%v", p)
		}
	}()
	return f()
}
