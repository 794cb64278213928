package importer

import (
	"context"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// What tests of package importer_test need, which start nodes: these import this package.
var (
	CheckpointBytes = &checkpointBytes
	DigestOf        = digestOf
	LockState       = lockState
	WholeKey        = wholeKey
)

// WriteParts returns what writes the parts of values.
func WriteParts(ctx context.Context, ring *client.Ring, stats *Stats) func(*rdbfile.Entry) error {
	return (&partWriter{ctx: ctx, ring: ring, stats: stats}).write
}
