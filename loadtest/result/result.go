package result

import "time"

// Version is that of the JSON form. It grows by one when a field changes its meaning or
// goes away; new fields do not change it.
const Version = 1

// A Report is one load test: the same work, given to each contestant, in rounds.
//
// Names end with their unit. Times count from the beginning of their run. A figure that is not
// known is missing from JSON, or null.
type Report struct {
	Version     int          `json:"version"`               // of this form
	Ringside    string       `json:"ringside"`              // version of the program
	Command     string       `json:"command"`               // the shell command that repeats the test
	Began       time.Time    `json:"began"`                 // start of the test
	TookSeconds float64      `json:"took_seconds"`          // duration of the test
	Interrupted bool         `json:"interrupted,omitempty"` // the test was stopped before its end
	Machine     Machine      `json:"machine"`               // where it ran
	Settings    []Setting    `json:"settings"`              // all settings, in the order of the help
	Script      string       `json:"script"`                // the steps of the test
	WindowMS    float64      `json:"window_ms"`             // length of a Window and of a Sample
	Rounds      int          `json:"rounds"`                // planned rounds
	Notes       []string     `json:"notes,omitempty"`       // warnings: that the generator was saturated
	Contestants []Contestant `json:"contestants"`           // in the order of the command line
}

// A Machine describes where the test ran.
type Machine struct {
	OS          string `json:"os"`                     // as Go names it: "linux"
	Arch        string `json:"arch"`                   // as Go names it: "amd64"
	Kernel      string `json:"kernel,omitempty"`       // version of the operating system
	CPU         string `json:"cpu,omitempty"`          // the processor's name
	Cores       int    `json:"cores"`                  // processors that the program may use
	MemoryBytes int64  `json:"memory_bytes,omitempty"` // of the whole machine
	Go          string `json:"go"`                     // version of Go that the program was built with
}

// A Setting is one flag and its value.
type Setting struct {
	Name    string `json:"name"`              // the flag, without dashes
	Value   string `json:"value"`             // as in the command line
	Default bool   `json:"default,omitempty"` // the value is the default
}

// A Contestant is a strategy with its settings, or a server.
type Contestant struct {
	Name string `json:"name"` // "buckets", "vnode:128", "127.0.0.1:6379"
	// Cluster tells that the nodes report what they hold and do: Samples, Layouts and the
	// figures of Events about moved data are present.
	Cluster bool  `json:"cluster"`
	Runs    []Run `json:"runs"` // one for each round
}

// A Run is one execution of the script for one contestant.
type Run struct {
	Round   int     `json:"round"`             // counted from 1
	Began   float64 `json:"began_seconds"`     // since the beginning of the report
	Failure string  `json:"failure,omitempty"` // why the run ended early; figures until then are present

	LoadKeys    int64   `json:"load_keys"`    // keys written before the measurement
	LoadSeconds float64 `json:"load_seconds"` // how long that took

	All     Phase    `json:"all"`               // from the first operation of the first client to the last operation
	Phases  []Phase  `json:"phases"`            // in order, without gaps
	Events  []Event  `json:"events"`            // in the order of the script
	Windows []Window `json:"windows"`           // measurements of the clients
	Samples []Sample `json:"samples,omitempty"` // measurements that nodes report
	Layouts []Layout `json:"layouts,omitempty"` // after each change
	Loads   []Loads  `json:"loads,omitempty"`   // before each event, and at the end
	Checked *Checked `json:"checked,omitempty"` // with verification

	// GeneratorCores is the number of processors that the generator used on average.
	// GeneratorSaturated is the share of the time in which the generator was the bottleneck.
	GeneratorCores     float64 `json:"generator_cores"`
	GeneratorSaturated float64 `json:"generator_saturated"` // share of the time, 0 to 1
}

// A Phase is a part of a run, with the measurements of clients.
type Phase struct {
	Name    string  `json:"name"`     // the step of the script: "run 8s", "join"
	FromMS  float64 `json:"from_ms"`  // when it began
	UntilMS float64 `json:"until_ms"` // when it ended
	Clients
	Commands []CommandFigures `json:"commands,omitempty"` // one for each command of the mix
}

// Clients is what clients measured over a time.
type Clients struct {
	Operations int64 `json:"operations"`    // operations with a reply
	Failed     int64 `json:"failed"`        // of them, with an error
	Unknown    int64 `json:"unknown"`       // of those, with an unknown outcome
	Redirected int64 `json:"redirected"`    // MOVED and ASK that a client followed
	Read       int64 `json:"read_bytes"`    // of replies
	Written    int64 `json:"written_bytes"` // of requests
	// Latency counts from the moment at which an operation was due; in a closed loop, from when
	// its client was free to send it, also if the client had to connect first.
	Latency Latency `json:"latency"`
	// Service counts from when an operation was sent. It is present in an open loop, where that
	// differs.
	Service *Latency `json:"service,omitempty"`
	// LongestPauseMS is the longest time for which one key could not be used, or one client was not
	// served: from when its first failed operation was due to the end of the last one in a row, or of
	// the next operation if that was due by then; or the slowest operation.
	LongestPauseMS float64 `json:"longest_pause_ms"`
	LongestPauseOf string  `json:"longest_pause_of,omitempty"` // the key, of several the first
}

// Latency is a distribution, in microseconds.
type Latency struct {
	Mean float64 `json:"mean_us"` // of all operations
	P50  float64 `json:"p50_us"`  // half of the operations took no longer
	P90  float64 `json:"p90_us"`  // 9 of 10 took no longer
	P99  float64 `json:"p99_us"`  // 99 of 100 took no longer
	P999 float64 `json:"p999_us"` // 999 of 1,000 took no longer
	Max  float64 `json:"max_us"`  // the slowest
	// Histogram is all of it, compressed as HdrHistogram does (V2, base64); values in it are microseconds.
	// Only phases have it.
	Histogram string `json:"histogram,omitempty"`
}

// CommandFigures is what clients measured of one command.
type CommandFigures struct {
	Command    string  `json:"command"`    // its name
	Operations int64   `json:"operations"` // operations with a reply
	Failed     int64   `json:"failed"`     // of them, with an error
	Latency    Latency `json:"latency"`    // counted from when an operation was due
}

// An Event is a change of a cluster, with its effects.
type Event struct {
	Name   string  `json:"name"`           // "join", "kill"
	Node   string  `json:"node,omitempty"` // the node; several are separated by commas
	AtMS   float64 `json:"at_ms"`          // when it began
	DoneMS float64 `json:"done_ms"`        // when the step was done
	// BalancedMS is when all keys and copies were in their place; absent if that was not so
	// before the next event.
	BalancedMS *float64 `json:"balanced_ms,omitempty"`

	// What moved from AtMS until the next event, or the end.
	MovedKeys  int64 `json:"moved_keys"`
	MovedBytes int64 `json:"moved_bytes"` // of those keys and their values
	// LeastKeys and LeastBytes are the least that any strategy must move; of a switch and of load balancing the
	// least that leads to the load of nodes afterwards. Backups count.
	LeastKeys  int64    `json:"least_keys"`
	LeastBytes int64    `json:"least_bytes"`      // their bytes
	Factor     *float64 `json:"factor,omitempty"` // MovedKeys ÷ LeastKeys
	Handoffs   int64    `json:"handoffs"`         // that began

	// Before is the time before AtMS, from when the previous event was balanced, or from the
	// beginning.
	Before Span `json:"before"`
	During Span `json:"during"` // from AtMS until BalancedMS
	After  Span `json:"after"`  // from BalancedMS until the next event

	Failed         int64   `json:"failed"`           // operations from AtMS until the next event that ended with an error
	Unknown        int64   `json:"unknown"`          // operations of that time with an unknown outcome
	LongestPauseMS float64 `json:"longest_pause_ms"` // of any key or client, in that time

	BalanceBefore *Balance `json:"balance_before,omitempty"` // at AtMS
	BalanceAfter  *Balance `json:"balance_after,omitempty"`  // before the next event
}

// A Span is a short form of what clients measured over a time.
type Span struct {
	Milliseconds float64 `json:"ms"`         // 0: there was no such time
	PerSecond    float64 `json:"per_second"` // operations that succeeded
	P99          float64 `json:"p99_us"`     // 99 of 100 operations took no longer
}

// A Balance is how even the load of the nodes is: the largest share ÷ the mean, by weight. 1 is
// even.
type Balance struct {
	Keys     float64 `json:"keys"`     // primaries and backups
	Bytes    float64 `json:"bytes"`    // of those keys and their values
	Requests float64 `json:"requests"` // answered without forwarding
	// HottestRange is the share, 0 to 1, of all operations that the busiest range has.
	HottestRange float64 `json:"hottest_range,omitempty"`
}

// A Window is what clients measured in an interval. Operations count where they end.
type Window struct {
	AtMS       float64 `json:"at_ms"`                // its beginning
	Operations int64   `json:"operations"`           // operations with a reply
	Failed     int64   `json:"failed,omitempty"`     // of them, with an error
	Unknown    int64   `json:"unknown,omitempty"`    // of those, with an unknown outcome
	Redirected int64   `json:"redirected,omitempty"` // MOVED and ASK that a client followed
	P50        float64 `json:"p50_us"`               // half of the operations took no longer
	P99        float64 `json:"p99_us"`               // 99 of 100 took no longer
	P999       float64 `json:"p999_us"`              // 999 of 1,000 took no longer
	Max        float64 `json:"max_us"`               // the slowest
}

// A Sample is what nodes reported at one time. Rates and sums count from the sample before.
type Sample struct {
	AtMS       float64      `json:"at_ms"`       // when the nodes were asked
	Handoffs   int64        `json:"handoffs"`    // that are running
	MovedKeys  int64        `json:"moved_keys"`  // copies that arrived
	MovedBytes int64        `json:"moved_bytes"` // of those keys and their values
	Forwarded  float64      `json:"forwarded"`   // share of requests, 0 to 1, that a node forwarded to another
	Nodes      []NodeSample `json:"nodes"`       // nodes that answered
	// GeneratorCores is the number of processors that the generator used, where nodes run in its
	// process.
	GeneratorCores *float64 `json:"generator_cores,omitempty"`
	// SharedCores is the number of processors there that belong neither to the generator nor to a
	// node: garbage collection and compactions.
	SharedCores *float64 `json:"shared_cores,omitempty"`
}

// A NodeSample is what one node reported.
type NodeSample struct {
	Node        string   `json:"node"`                   // its id
	Keys        int64    `json:"keys"`                   // primaries and backups, by its own estimate
	Bytes       int64    `json:"bytes"`                  // of those keys and their values
	Primaries   int64    `json:"primaries"`              // ranges
	Backups     int64    `json:"backups"`                // ranges
	PerSecond   float64  `json:"per_second"`             // requests that the node executed
	Cores       *float64 `json:"cores,omitempty"`        // processors that the node used
	MemoryBytes *int64   `json:"memory_bytes,omitempty"` // that the node has from the operating system
}

// A Layout shows which node has which tokens. Each bucket is a cell. For other strategies the circle
// has 1,024 cells of equal length, and a cell shows the owner of the token in its middle.
type Layout struct {
	AtMS  float64  `json:"at_ms"` // when it was read
	Nodes []string `json:"nodes"` // their ids
	// Primary has an index into Nodes for each cell, -1 if no node serves it.
	Primary []int `json:"primary"`
	Backup  []int `json:"backup"` // the same of the first of the backups
}

// Loads are the loads on ranges, as their primaries measure them: rates that decay to a third in 10 seconds.
type Loads struct {
	AtMS float64 `json:"at_ms"` // when the nodes were asked
	// PerSecond has the operations per second of 1,024 cells of equal length, from token 0 on.
	PerSecond []float64  `json:"per_second"`
	Nodes     []NodeLoad `json:"nodes"` // nodes that answered
}

// A NodeLoad is the load on the ranges that one node serves.
type NodeLoad struct {
	Node           string  `json:"node"`               // its id
	PerSecond      float64 `json:"per_second"`         // operations
	BytesPerSecond float64 `json:"bytes_per_second"`   // of requests and replies
	Hottest        string  `json:"hottest_range"`      // the range with the most operations
	HottestRate    float64 `json:"hottest_per_second"` // operations on that range
}

// HottestRange is the share of all operations that the busiest range has, 0 without any operation.
func (l *Loads) HottestRange() float64 {
	sum, most := 0.0, 0.0
	for i := range l.Nodes {
		sum += l.Nodes[i].PerSecond
		most = max(most, l.Nodes[i].HottestRate)
	}
	if sum == 0 {
		return 0
	}
	return most / sum
}

// MaxToMean is the load of the busiest node as a multiple of the mean, 0 without any operation.
func (l *Loads) MaxToMean() float64 {
	sum, most := 0.0, 0.0
	for i := range l.Nodes {
		sum += l.Nodes[i].PerSecond
		most = max(most, l.Nodes[i].PerSecond)
	}
	if sum == 0 {
		return 0
	}
	return most / (sum / float64(len(l.Nodes)))
}

// Checked is the result of verification.
type Checked struct {
	Reads   int64 `json:"reads"`   // replies that were checked
	Lost    int64 `json:"lost"`    // replies without a value that had been acknowledged
	Stale   int64 `json:"stale"`   // replies with a value that had been overwritten before the request
	Corrupt int64 `json:"corrupt"` // replies with a value that was never written
	// FinalKeys is the number of keys that were read once more at the end.
	FinalKeys   int64    `json:"final_keys"`
	FinalUnread int64    `json:"final_unread"`       // that could not be read
	Examples    []string `json:"examples,omitempty"` // descriptions of the first few
}
