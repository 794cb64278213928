package report

import "time"

// Version is that of the JSON form. It grows by one when a field changes its meaning or
// goes away; new fields do not change it.
const Version = 1

// A Report is one load test: the same work, given to each contestant, in rounds.
//
// Names end with their unit. Times that are counted are from the beginning of the run in
// which they stand. A figure that nobody could find out is missing from JSON, or null.
type Report struct {
	Version     int          `json:"version"`
	Ringside    string       `json:"ringside"` // version of the program
	Command     string       `json:"command"`  // as one types it in a shell to do the same again
	Began       time.Time    `json:"began"`
	TookSeconds float64      `json:"took_seconds"`
	Interrupted bool         `json:"interrupted,omitempty"` // somebody ended it before its end
	Machine     Machine      `json:"machine"`
	Settings    []Setting    `json:"settings"` // everything that could be set, in the order of the help
	Script      string       `json:"script"`
	WindowMS    float64      `json:"window_ms"` // length of a Window and of a Sample
	Rounds      int          `json:"rounds"`
	Notes       []string     `json:"notes,omitempty"` // what a reader must know: that the generator was saturated
	Contestants []Contestant `json:"contestants"`
}

// A Machine is what everything ran on.
type Machine struct {
	OS          string `json:"os"`
	Arch        string `json:"arch"`
	Kernel      string `json:"kernel,omitempty"`
	CPU         string `json:"cpu,omitempty"`
	Cores       int    `json:"cores"`
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
	Go          string `json:"go"`
}

// A Setting is one that was chosen, or left as it is.
type Setting struct {
	Name    string `json:"name"` // that of the flag, without dashes
	Value   string `json:"value"`
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

	LoadKeys    int64   `json:"load_keys"` // what was written before anything was measured
	LoadSeconds float64 `json:"load_seconds"`

	All     Phase    `json:"all"`    // from the first client's first operation on, until the last
	Phases  []Phase  `json:"phases"` // one after the other, without gaps
	Events  []Event  `json:"events"`
	Windows []Window `json:"windows"`           // of what clients saw
	Samples []Sample `json:"samples,omitempty"` // of what nodes told
	Layouts []Layout `json:"layouts,omitempty"` // after each change
	Checked *Checked `json:"checked,omitempty"` // with verification

	// GeneratorCores is how many processors the generator took, on the average, and
	// GeneratorSaturated how much of the time, 0 to 1, it could not have asked for more.
	GeneratorCores     float64 `json:"generator_cores"`
	GeneratorSaturated float64 `json:"generator_saturated"`
}

// A Phase is a piece of a run, and what clients saw in it.
type Phase struct {
	Name    string  `json:"name"` // the step of the script: "run 8s", "join"
	FromMS  float64 `json:"from_ms"`
	UntilMS float64 `json:"until_ms"`
	Clients
	Commands []CommandFigures `json:"commands,omitempty"` // one for each command of the mix
}

// Clients is what clients saw for a while.
type Clients struct {
	Operations int64 `json:"operations"` // that were answered
	Failed     int64 `json:"failed"`     // of them, with an error
	Unknown    int64 `json:"unknown"`    // of those, whose outcome nobody knows
	Redirected int64 `json:"redirected"` // MOVED and ASK that a client followed
	Read       int64 `json:"read_bytes"`
	Written    int64 `json:"written_bytes"`
	// Latency is from the moment at which an operation was to begin: in a closed loop
	// from when it was sent.
	Latency Latency `json:"latency"`
	// Service is from when an operation was sent, if that differs: in an open loop.
	Service *Latency `json:"service,omitempty"`
	// LongestPauseMS is for how long somebody waited at most until any key could be used:
	// from the beginning of the first operation on it that failed, or was slow, to the
	// end of the next that did not.
	LongestPauseMS float64 `json:"longest_pause_ms"`
	LongestPauseOf string  `json:"longest_pause_of,omitempty"` // the key
}

// Latency is a distribution, in microseconds.
type Latency struct {
	Mean float64 `json:"mean_us"`
	P50  float64 `json:"p50_us"`
	P90  float64 `json:"p90_us"`
	P99  float64 `json:"p99_us"`
	P999 float64 `json:"p999_us"`
	Max  float64 `json:"max_us"`
	// Histogram is all of it, compressed as HdrHistogram does (V2, base64); values in it are microseconds.
	// Only phases have it.
	Histogram string `json:"histogram,omitempty"`
}

// CommandFigures is what clients saw of one command.
type CommandFigures struct {
	Command    string  `json:"command"`
	Operations int64   `json:"operations"`
	Failed     int64   `json:"failed"`
	Latency    Latency `json:"latency"`
}

// An Event is something that happened to a cluster, and what became of it.
type Event struct {
	Name   string  `json:"name"`           // "join", "kill"
	Node   string  `json:"node,omitempty"` // whom it happened to; several with commas between them
	AtMS   float64 `json:"at_ms"`
	DoneMS float64 `json:"done_ms"` // when the step was done
	// BalancedMS is when everything was where it belongs with all its copies; absent if it
	// was not by the next event.
	BalancedMS *float64 `json:"balanced_ms,omitempty"`

	// What moved from AtMS until the next event, or the end.
	MovedKeys  int64 `json:"moved_keys"`
	MovedBytes int64 `json:"moved_bytes"`
	// LeastKeys is what would have moved at the least, and LeastBytes; Factor is moved by
	// least. Backups count.
	LeastKeys  int64    `json:"least_keys"`
	LeastBytes int64    `json:"least_bytes"`
	Factor     *float64 `json:"factor,omitempty"`
	Handoffs   int64    `json:"handoffs"`

	// Before is what clients saw from the event before (or the beginning) on, once that one
	// was balanced; During until this one is balanced; After from then until the next.
	Before Span `json:"before"`
	During Span `json:"during"`
	After  Span `json:"after"`

	Failed         int64   `json:"failed"` // from AtMS until the next event
	Unknown        int64   `json:"unknown"`
	LongestPauseMS float64 `json:"longest_pause_ms"`

	BalanceBefore *Balance `json:"balance_before,omitempty"`
	BalanceAfter  *Balance `json:"balance_after,omitempty"`
}

// A Span is what clients saw for a while, in short.
type Span struct {
	Milliseconds float64 `json:"ms"` // 0: there was no such while
	PerSecond    float64 `json:"per_second"`
	P99          float64 `json:"p99_us"`
}

// A Balance is how even something lies over the nodes: that of the node with the most by
// the mean, weights considered. 1 is even.
type Balance struct {
	Keys     float64 `json:"keys"`
	Bytes    float64 `json:"bytes"`
	Requests float64 `json:"requests"` // that nodes answered themselves
}

// A Window is what clients saw in a piece of time. Operations count where they end.
type Window struct {
	AtMS       float64 `json:"at_ms"` // its beginning
	Operations int64   `json:"operations"`
	Failed     int64   `json:"failed,omitempty"`
	Unknown    int64   `json:"unknown,omitempty"`
	Redirected int64   `json:"redirected,omitempty"`
	P50        float64 `json:"p50_us"`
	P99        float64 `json:"p99_us"`
	P999       float64 `json:"p999_us"`
	Max        float64 `json:"max_us"`
}

// A Sample is what nodes told, at one time. Rates and sums are since the one before.
type Sample struct {
	AtMS       float64      `json:"at_ms"`
	Handoffs   int64        `json:"handoffs"` // that run
	MovedKeys  int64        `json:"moved_keys"`
	MovedBytes int64        `json:"moved_bytes"`
	Forwarded  float64      `json:"forwarded"` // share of requests, 0 to 1, that a node passed on to another
	Nodes      []NodeSample `json:"nodes"`
	// Where nodes run in the generator's process: processors that it took itself, and those
	// that nobody can be told to have taken, for garbage and compactions.
	GeneratorCores *float64 `json:"generator_cores,omitempty"`
	SharedCores    *float64 `json:"shared_cores,omitempty"`
}

// A NodeSample is what one node told.
type NodeSample struct {
	Node        string   `json:"node"`
	Keys        int64    `json:"keys"` // primaries and backups, by its own estimate
	Bytes       int64    `json:"bytes"`
	Primaries   int64    `json:"primaries"` // ranges
	Backups     int64    `json:"backups"`
	PerSecond   float64  `json:"per_second"`      // requests that it executed
	Cores       *float64 `json:"cores,omitempty"` // processors that it took
	MemoryBytes *int64   `json:"memory_bytes,omitempty"`
}

// A Layout is who has which piece of the tokens: of buckets each is a cell, of others the
// circle has 1,024 cells of the same length, each of whom the token in its middle has.
type Layout struct {
	AtMS  float64  `json:"at_ms"`
	Nodes []string `json:"nodes"`
	// Primary has an index into Nodes for each cell, -1 if nobody serves it; Backup the
	// first of the backups.
	Primary []int `json:"primary"`
	Backup  []int `json:"backup"`
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
	FinalUnread int64    `json:"final_unread"`
	Examples    []string `json:"examples,omitempty"` // the first few, in words
}
