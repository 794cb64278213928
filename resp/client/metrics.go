package client

import "github.com/uber-go/tally/v4"

// metrics are what a Ring counts.
type metrics struct {
	commands   tally.Counter // sent by callers
	redirects  tally.Counter // followed
	retries    tally.Counter // commands sent once more, but for redirects
	unknown    tally.Counter // commands whose outcome the caller does not know
	connects   tally.Counter
	lost       tally.Counter // attempts to connect, or connections, that came to nothing
	refreshes  tally.Counter // whole placements that were fetched
	pushes     tally.Counter // changes of the placement that were pushed
	nodes      tally.Gauge
	ranges     tally.Gauge
	subscribed tally.Gauge // 1 while changes are pushed
}

func newMetrics(s tally.Scope) *metrics {
	return &metrics{
		commands:   s.Counter("client_commands"),
		redirects:  s.Counter("client_redirects"),
		retries:    s.Counter("client_retries"),
		unknown:    s.Counter("client_unknown_outcomes"),
		connects:   s.Counter("client_connects"),
		lost:       s.Counter("client_connections_lost"),
		refreshes:  s.Counter("client_refreshes"),
		pushes:     s.Counter("client_pushes"),
		nodes:      s.Gauge("client_nodes"),
		ranges:     s.Gauge("client_ranges"),
		subscribed: s.Gauge("client_subscribed"),
	}
}
