package result

import "time"

// Version is that of the JSON form. It grows by one when a field changes its meaning or
// goes away; new fields do not change it.
const Version = 1

// A Report is one load test: the same work, given to each contestant, in rounds.
//
// Names end with their unit. Times that are counted are from the beginning of the run in
// which they stand. A figure that nobody could find out is missing from JSON, or null.
type Report struct {
	Version     int          `json:"version"`               // of this form
	Ringside    string       `json:"ringside"`              // version of the program
	Command     string       `json:"command"`               // as one types it in a shell to do the same again
	Began       time.Time    `json:"began"`                 // when the first thing was done
	TookSeconds float64      `json:"took_seconds"`          // all of it, from beginning to end
	Interrupted bool         `json:"interrupted,omitempty"` // somebody ended it before its end
	Machine     Machine      `json:"machine"`               // where it ran
	Settings    []Setting    `json:"settings"`              // everything that could be set, in the order of the help
	Script      string       `json:"script"`                // what happened, in steps
	WindowMS    float64      `json:"window_ms"`             // length of a Window and of a Sample
	Rounds      int          `json:"rounds"`                // that were asked for
	Notes       []string     `json:"notes,omitempty"`       // what a reader must know: that the generator was saturated
	Contestants []Contestant `json:"contestants"`           // in the order in which they were given
}

// A Machine is what everything ran on.
type Machine struct {
	OS          string `json:"os"`                     // as Go names it: "linux"
	Arch        string `json:"arch"`                   // as Go names it: "amd64"
	Kernel      string `json:"kernel,omitempty"`       // version of the operating system
	CPU         string `json:"cpu,omitempty"`          // the processor's name
	Cores       int    `json:"cores"`                  // processors that the program may use
	MemoryBytes int64  `json:"memory_bytes,omitempty"` // of the whole machine
	Go          string `json:"go"`                     // version of Go that the program was built with
}

// A Setting is one that was chosen, or left as it is.
type Setting struct {
	Name    string `json:"name"`              // that of the flag, without dashes
	Value   string `json:"value"`             // as one types it
	Default bool   `json:"default,omitempty"` // nobody chose it
}

// A Contestant is a strategy with its settings, or a server that runs somewhere.
type Contestant struct {
	Name string `json:"name"` // "buckets", "vnode:128", "127.0.0.1:6379"
	// Cluster tells that its nodes are known, and what they hold and do: Samples, Layouts
	// and the Events' figures about data that moves are there.
	Cluster bool  `json:"cluster"`
	Runs    []Run `json:"runs"` // one a round
}

// A Run is the whole script, played once for one contestant.
type Run struct {
	Round   int     `json:"round"`             // from 1 on
	Began   float64 `json:"began_seconds"`     // since the report's beginning
	Failure string  `json:"failure,omitempty"` // why it ended before its end; what there is until then is there

	LoadKeys    int64   `json:"load_keys"`    // what was written before anything was measured
	LoadSeconds float64 `json:"load_seconds"` // for how long that took

	All     Phase    `json:"all"`               // from the first client's first operation on, until the last
	Phases  []Phase  `json:"phases"`            // one after the other, without gaps
	Events  []Event  `json:"events"`            // in the order of the script
	Windows []Window `json:"windows"`           // of what clients saw
	Samples []Sample `json:"samples,omitempty"` // of what nodes told
	Layouts []Layout `json:"layouts,omitempty"` // after each change
	Checked *Checked `json:"checked,omitempty"` // with verification

	// GeneratorCores is how many processors the generator took, on the average, and
	// GeneratorSaturated how much of the time it could not have asked for more.
	GeneratorCores     float64 `json:"generator_cores"`
	GeneratorSaturated float64 `json:"generator_saturated"` // share of the time, 0 to 1
}

// A Phase is a piece of a run, and what clients saw in it.
type Phase struct {
	Name    string  `json:"name"`     // the step of the script: "run 8s", "join"
	FromMS  float64 `json:"from_ms"`  // when it began
	UntilMS float64 `json:"until_ms"` // when it was over
	Clients
	Commands []CommandFigures `json:"commands,omitempty"` // one for each command of the mix
}

// Clients is what clients saw for a while.
type Clients struct {
	Operations int64 `json:"operations"`    // that were answered
	Failed     int64 `json:"failed"`        // of them, with an error
	Unknown    int64 `json:"unknown"`       // of those, whose outcome nobody knows
	Redirected int64 `json:"redirected"`    // MOVED and ASK that a client followed
	Read       int64 `json:"read_bytes"`    // of answers
	Written    int64 `json:"written_bytes"` // of requests
	// Latency is from the moment at which an operation was to begin: in a closed loop
	// from when it was sent.
	Latency Latency `json:"latency"`
	// Service is from when an operation was sent, if that differs: in an open loop.
	Service *Latency `json:"service,omitempty"`
	// LongestPauseMS is for how long somebody wanted any one key at most and could not use
	// it: from the beginning of the first of operations on it that failed to the end of the
	// last, or of the next if that had begun by then; or the slowest operation.
	LongestPauseMS float64 `json:"longest_pause_ms"`
	LongestPauseOf string  `json:"longest_pause_of,omitempty"` // the key
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

// CommandFigures is what clients saw of one command.
type CommandFigures struct {
	Command    string  `json:"command"`    // its name
	Operations int64   `json:"operations"` // that were answered
	Failed     int64   `json:"failed"`     // of them, with an error
	Latency    Latency `json:"latency"`    // from when an operation was to begin
}

// An Event is something that happened to a cluster, and what became of it.
type Event struct {
	Name   string  `json:"name"`           // "join", "kill"
	Node   string  `json:"node,omitempty"` // whom it happened to; several with commas between them
	AtMS   float64 `json:"at_ms"`          // when it began
	DoneMS float64 `json:"done_ms"`        // when the step was done
	// BalancedMS is when everything was where it belongs with all its copies; absent if it
	// was not by the next event.
	BalancedMS *float64 `json:"balanced_ms,omitempty"`

	// What moved from AtMS until the next event, or the end.
	MovedKeys  int64 `json:"moved_keys"`
	MovedBytes int64 `json:"moved_bytes"` // of those keys and their values
	// LeastKeys is what would have moved at the least, and LeastBytes; Factor is moved by
	// least. Backups count.
	LeastKeys  int64    `json:"least_keys"`
	LeastBytes int64    `json:"least_bytes"`      // their bytes
	Factor     *float64 `json:"factor,omitempty"` // MovedKeys by LeastKeys
	Handoffs   int64    `json:"handoffs"`         // that were begun

	// Before is what clients saw from the event before (or the beginning) on, once that one
	// was balanced; During until this one is balanced; After from then until the next.
	Before Span `json:"before"`
	During Span `json:"during"` // from AtMS until BalancedMS
	After  Span `json:"after"`  // from BalancedMS until the next event

	Failed         int64   `json:"failed"`           // operations from AtMS until the next event that were answered with an error
	Unknown        int64   `json:"unknown"`          // operations of that time whose outcome nobody knows
	LongestPauseMS float64 `json:"longest_pause_ms"` // of any key, in that time

	BalanceBefore *Balance `json:"balance_before,omitempty"` // at AtMS
	BalanceAfter  *Balance `json:"balance_after,omitempty"`  // before the next event
}

// A Span is what clients saw for a while, in short.
type Span struct {
	Milliseconds float64 `json:"ms"`         // 0: there was no such while
	PerSecond    float64 `json:"per_second"` // operations that were answered without an error
	P99          float64 `json:"p99_us"`     // 99 of 100 operations took no longer
}

// A Balance is how even something lies over the nodes: that of the node with the most by
// the mean, weights considered. 1 is even.
type Balance struct {
	Keys     float64 `json:"keys"`     // primaries and backups
	Bytes    float64 `json:"bytes"`    // of those keys and their values
	Requests float64 `json:"requests"` // that nodes answered themselves
}

// A Window is what clients saw in a piece of time. Operations count where they end.
type Window struct {
	AtMS       float64 `json:"at_ms"`                // its beginning
	Operations int64   `json:"operations"`           // that were answered
	Failed     int64   `json:"failed,omitempty"`     // of them, with an error
	Unknown    int64   `json:"unknown,omitempty"`    // of those, whose outcome nobody knows
	Redirected int64   `json:"redirected,omitempty"` // MOVED and ASK that a client followed
	P50        float64 `json:"p50_us"`               // half of the operations took no longer
	P99        float64 `json:"p99_us"`               // 99 of 100 took no longer
	P999       float64 `json:"p999_us"`              // 999 of 1,000 took no longer
	Max        float64 `json:"max_us"`               // the slowest
}

// A Sample is what nodes told, at one time. Rates and sums are since the one before.
type Sample struct {
	AtMS       float64      `json:"at_ms"`       // when they were asked
	Handoffs   int64        `json:"handoffs"`    // that run
	MovedKeys  int64        `json:"moved_keys"`  // copies that arrived
	MovedBytes int64        `json:"moved_bytes"` // of those keys and their values
	Forwarded  float64      `json:"forwarded"`   // share of requests, 0 to 1, that a node passed on to another
	Nodes      []NodeSample `json:"nodes"`       // that answered
	// GeneratorCores is how many processors the generator took, where nodes run in its process.
	GeneratorCores *float64 `json:"generator_cores,omitempty"`
	// SharedCores is how many nobody can be told to have taken there: for garbage and
	// compactions.
	SharedCores *float64 `json:"shared_cores,omitempty"`
}

// A NodeSample is what one node told.
type NodeSample struct {
	Node        string   `json:"node"`                   // its id
	Keys        int64    `json:"keys"`                   // primaries and backups, by its own estimate
	Bytes       int64    `json:"bytes"`                  // of those keys and their values
	Primaries   int64    `json:"primaries"`              // ranges
	Backups     int64    `json:"backups"`                // ranges
	PerSecond   float64  `json:"per_second"`             // requests that it executed
	Cores       *float64 `json:"cores,omitempty"`        // processors that it took
	MemoryBytes *int64   `json:"memory_bytes,omitempty"` // that it has of the operating system
}

// A Layout is who has which piece of the tokens: of buckets each is a cell, of others the
// circle has 1,024 cells of the same length, each of whom the token in its middle has.
type Layout struct {
	AtMS  float64  `json:"at_ms"` // when it was seen
	Nodes []string `json:"nodes"` // their ids
	// Primary has an index into Nodes for each cell, -1 if nobody serves it.
	Primary []int `json:"primary"`
	Backup  []int `json:"backup"` // the same of the first of the backups
}

// Checked is what verification found.
type Checked struct {
	Reads   int64 `json:"reads"`   // answers that were compared
	Lost    int64 `json:"lost"`    // a value that had been acknowledged was not there
	Stale   int64 `json:"stale"`   // one that had been overwritten was
	Corrupt int64 `json:"corrupt"` // one that nobody ever wrote was
	// FinalKeys is how many keys were read once more at the end, and FinalUnread of them
	// those that could not be.
	FinalKeys   int64    `json:"final_keys"`
	FinalUnread int64    `json:"final_unread"`       // that could not be read
	Examples    []string `json:"examples,omitempty"` // the first few, in words
}
