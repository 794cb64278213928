package main

import (
	"context"
	"os/exec"
)

// A load is what a server is given to do in one measurement.
type load struct {
	addr      string
	command   string
	valueSize int
	pipeline  int
	requests  int
	clients   int
	keys      int
}

// figures are what a driver has seen.
type figures struct {
	OpsPerSec float64 `json:"ops_per_sec"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
}

// A driver applies a load and returns when all of it is answered, at the first
// error, or when the context ends.
type driver interface {
	name() string
	drive(ctx context.Context, l load) (figures, error)
}

func chooseDriver(opt options) driver {
	if opt.load != loadOwn {
		if path, err := exec.LookPath(loadRedisBenchmark); err == nil {
			return redisBenchmark{path}
		}
	}
	return ownDriver{}
}
