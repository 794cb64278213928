package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// LimitMemory makes a memory control group of so many bytes, of version 2 or 1. wrap is a
// [How.Wrap] that runs a node in it; remove removes the group once the node has ended. An error
// means that this process may not make one.
func LimitMemory(bytes int) (wrap []string, remove func() error, err error) {
	var faults error
	for _, way := range []struct{ root, bound string }{
		{"/sys/fs/cgroup", "memory.max"},
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
	} {
		group, err := os.MkdirTemp(way.root, "ringside-")
		if err != nil {
			faults = errors.Join(faults, err)
			continue
		}
		bound := filepath.Join(group, way.bound)
		if _, err = os.Stat(bound); err == nil {
			err = os.WriteFile(bound, []byte(strconv.Itoa(bytes)), 0o644)
		}
		if err != nil {
			faults = errors.Join(faults, err, os.Remove(group))
			continue
		}
		procs := filepath.Join(group, "cgroup.procs")
		return []string{"sh", "-c", `echo $$ >"$0" && exec "$@"`, procs}, func() error { return os.Remove(group) }, nil
	}
	return nil, nil, fmt.Errorf("no memory limit can be set: %w", faults)
}
