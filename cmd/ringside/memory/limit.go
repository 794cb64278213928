package memory

import (
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// A Limit is how much memory the process may use, and where that is said.
type Limit struct {
	Bytes  int64 // 0: not known
	Source string
}

// System returns the limit of the process's cgroup (version 1 or 2, with the limits of its
// parents), or three quarters of the machine's memory if that is less: other programs run on
// a machine, too.
func System() Limit { return lesser(memlimit.FromCgroup, memlimit.FromSystem) }

func lesser(cgroup, machine func() (uint64, error)) Limit {
	limit := Limit{}
	if n, err := machine(); err == nil && n > 0 && n <= math.MaxInt64 {
		limit = Limit{int64(n / 4 * 3), "3/4 of the machine's memory"}
	}
	if n, err := cgroup(); err == nil && n > 0 && n <= math.MaxInt64 && (limit.Bytes == 0 || int64(n) < limit.Bytes) {
		limit = Limit{int64(n), "cgroup"}
	}
	return limit
}
