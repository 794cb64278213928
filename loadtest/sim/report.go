package sim

import "time"

// ReportVersion is the version of the format of [Report] as JSON. It rises when a
// field changes its meaning or goes.
const ReportVersion = 1

// A Report is what a simulation found. Every step has an outcome of every contender
// that is listed, also when the simulation was stopped early.
type Report struct {
	Version  int      `json:"version"`
	Settings Settings `json:"settings"`
	// Contenders are what was compared, in the order of Step.Outcomes.
	Contenders []Contender `json:"contenders"`
	// Steps begin with the placement that everything starts from: step 0, in which
	// nothing moves.
	Steps []Step `json:"steps"`
	// Stopped tells that not all was done. Contenders come one after the other, so
	// those that went through the whole scenario are listed with all steps; if there
	// are none, the one that had begun is with the steps that it did.
	Stopped bool          `json:"stopped,omitempty"`
	Took    time.Duration `json:"took_ns"`
}

// Settings are what the simulation was asked for.
type Settings struct {
	Scenario  string  `json:"scenario"`
	Order     string  `json:"order"` // random, lifo or fifo
	Seed      uint64  `json:"seed"`
	Nodes     int     `json:"nodes"` // at the start
	Backups   int     `json:"backups"`
	Zones     int     `json:"zones,omitempty"` // 0: nodes have none
	Keys      int     `json:"keys"`
	Bytes     int64   `json:"bytes"`                // of all keys and values
	ValueSize string  `json:"value_size"`           // bytes, or smallest-largest; where the key file does not say it
	KeyFile   string  `json:"key_file,omitempty"`   // empty: keys were made up
	Hash      string  `json:"hash"`                 // one of strategy.Hashes
	ZipfTheta float64 `json:"zipf_theta"`           // of the zipf requests
	HotKeys   float64 `json:"hot_keys"`             // part of the keys that is hot …
	HotShare  float64 `json:"hot_share"`            // … and the part of requests that it gets
	Machine   string  `json:"machine,omitempty"`    // processor and cores, for the times
	Go        string  `json:"go_version,omitempty"` // that the binary was built with
}

// A Contender is one strategy with its settings, or a yardstick.
type Contender struct {
	Name  string `json:"name"`  // as in --strategies: buckets, vnode:128, mod, …
	Title string `json:"title"` // for people: "vnode, 128 a node"
	// Yardstick tells that it can only be simulated.
	Yardstick bool `json:"yardstick,omitempty"`
}

// A Step is one change of the members and what it cost each contender.
type Step struct {
	Event string `json:"event"` // "start", "add node-11", "remove 9 of 10", …
	// Nodes are the members after the change, in the order in which they joined;
	// Outcome.Nodes goes by this order.
	Nodes []Node `json:"nodes"`
	// Least is the least that any strategy must move if the load is to be even
	// before and after: what the fair shares of nodes grow by.
	Least Amount `json:"least"`
	// LeastEach takes the place of Least in a switch of the strategy: for each contender, what leads
	// to the loads that its nodes have after the step.
	LeastEach []Amount  `json:"least_each,omitempty"`
	Outcomes  []Outcome `json:"outcomes"` // by Report.Contenders
}

// LeastOf is the least that a contender must move in a step.
func (s *Step) LeastOf(contender int) Amount {
	if len(s.LeastEach) > 0 {
		return s.LeastEach[contender]
	}
	return s.Least
}

// A Node is a member as the report shows it.
type Node struct {
	ID     string  `json:"id"`
	Weight float64 `json:"weight"`
	Zone   string  `json:"zone,omitempty"`
}

// An Amount counts copies of keys: a key whose primary and one backup travel counts
// twice, and so do its bytes.
type Amount struct {
	Keys  int64 `json:"keys"`
	Bytes int64 `json:"bytes"`
}

// An Outcome is what a step cost one contender and how it left it.
type Outcome struct {
	// Moved is all that travelled to another node; Backups is the part of it that
	// arrived as a backup.
	Moved   Amount `json:"moved"`
	Backups Amount `json:"moved_backups"`
	// Ratio is Moved.Keys ÷ the keys of [Step.LeastOf]. Below 1 the strategy moved less because its
	// load was not even before or is not after. 0 if nothing had to move.
	Ratio float64 `json:"moved_to_least"`
	// Survivors is the part of Moved to nodes that neither joined nor gained weight,
	// beyond what nodes that left, crashed or lost weight gave up of the same keys: what
	// consistent hashing promises to be 0.
	Survivors Amount `json:"between_survivors"`
	// Promoted are the keys whose new primary had a copy already.
	Promoted int64 `json:"promoted_keys"`
	// Lost are the keys of which no copy was left.
	Lost Amount `json:"lost"`
	// Balance is after the step; the one before is that of the step before.
	Balance Balance `json:"balance"`
	// Nodes is the load of each node, by Step.Nodes.
	Nodes []NodeLoad `json:"nodes"`

	Ranges       int           `json:"ranges"`           // rows of the placement; 0 for yardsticks
	EncodedBytes int           `json:"encoded_bytes"`    // of the placement in binary form
	MemoryBytes  int           `json:"memory_bytes"`     // that a node or a client needs for it
	Compute      time.Duration `json:"compute_ns"`       // of the desired placement
	LookupNanos  float64       `json:"lookup_ns"`        // a token's owner, mean of many, hash not included
	LocateNanos  float64       `json:"locate_ns"`        // a key's owner, hash included
	OneZone      int64         `json:"keys_in_one_zone"` // of which two copies are in one zone after the step
	Grid         *Grid         `json:"grid,omitempty"`   // buckets only, and not when there are very many
	Circle       *Circle       `json:"-"`                // nil for yardsticks, and when there are very many nodes
}

// Balance is how even the load is, by what is counted.
type Balance struct {
	Keys    Spread `json:"keys"`    // keys that a node is the primary of
	Bytes   Spread `json:"bytes"`   // their bytes
	Copies  Spread `json:"copies"`  // copies of keys, primary or backup
	Uniform Spread `json:"uniform"` // requests, all keys alike: as Keys
	Zipf    Spread `json:"zipf"`    // requests, by rank
	Hotspot Spread `json:"hotspot"` // requests, some keys hot
}

// A Spread describes loads of nodes, each as a multiple of the node's fair share, so
// that 1 is even whatever the weights, and the mean too.
type Spread struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"` // max ÷ mean
	CV  float64 `json:"cv"`  // coefficient of variation: standard deviation ÷ mean
}

// NodeLoad is the load of one node. Requests are parts of all requests, 0..1.
type NodeLoad struct {
	Primary Amount  `json:"primary"` // what it serves
	Copies  Amount  `json:"copies"`  // what it holds, as primary or backup
	Zipf    float64 `json:"zipf"`
	Hotspot float64 `json:"hotspot"`
}

// A Grid is who has which bucket, as the seeds of the strategy draw it.
type Grid struct {
	// Buckets are the names id/mask, in hexadecimal, ordered by mask, then id.
	Buckets []string `json:"buckets"`
	// Owners are for each bucket the primary and then the backups, as places in
	// Step.Nodes.
	Owners [][]int `json:"owners"`
}
