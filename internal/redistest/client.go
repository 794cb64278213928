package redistest

import (
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Client returns a client that waits long for a server, unless the options say for how long. It stays
// at its server when that one stops.
func Client(o *redis.Options) *redis.Client {
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
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
