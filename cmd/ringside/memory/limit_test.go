package memory

import (
	"errors"
	"math"
	"testing"
)

func TestLimitIsTheLesser(t *testing.T) {
	const machine = 8 << 30
	says := func(n uint64, err error) func() (uint64, error) {
		return func() (uint64, error) { return n, err }
	}
	unknown := says(0, errors.New("unknown"))
	for _, tt := range []struct {
		name            string
		cgroup, machine func() (uint64, error)
		want            int64
		source          string
	}{
		{"cgroup below the machine", says(300<<20, nil), says(machine, nil), 300 << 20, "cgroup"},
		{"cgroup above the machine", says(2*machine, nil), says(machine, nil), 6 << 30, "3/4 of the machine's memory"},
		{"no cgroup", unknown, says(machine, nil), 6 << 30, "3/4 of the machine's memory"},
		{"unlimited cgroup", says(math.MaxUint64, nil), says(machine, nil), 6 << 30, "3/4 of the machine's memory"},
		{"unknown machine", says(300<<20, nil), unknown, 300 << 20, "cgroup"},
		{"nothing known", unknown, unknown, 0, ""},
	} {
		if got := lesser(tt.cgroup, tt.machine); got.Bytes != tt.want || got.Source != tt.source {
			t.Errorf("%s: %+v, want %d from %q", tt.name, got, tt.want, tt.source)
		}
	}
}
