package redistest

import (
	"time"

	"github.com/redis/go-redis/v9"
)

// Client returns a client that waits long for a server, unless the options say for how long.
func Client(o *redis.Options) *redis.Client {
	patient(&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.PoolTimeout)
	return redis.NewClient(o)
}

// ClusterClient is [Client] for a cluster.
func ClusterClient(o *redis.ClusterOptions) *redis.ClusterClient {
	patient(&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout, &o.PoolTimeout)
	return redis.NewClusterClient(o)
}

func patient(timeouts ...*time.Duration) {
	for _, d := range timeouts {
		if *d == 0 {
			*d = patience
		}
	}
}
