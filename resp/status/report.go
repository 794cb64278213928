package status

import (
	"time"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/ring"
)

// A Report is a cluster as one of its nodes sees it, with what the others have told it.
type Report struct {
	Cluster string `json:"cluster"` // its name
	// Generation tells clusters of one name apart: a number, as in the logs.
	Generation string   `json:"generation"`
	Strategy   Strategy `json:"strategy"`
	// Asked is the node that made the report, At when.
	Asked string    `json:"asked"`
	At    time.Time `json:"at"`
	// Leader is the node that leads those who agree on the placement; empty if none is
	// known, and then nothing changes hands.
	Leader string `json:"leader"`
	// TableIndex is the last change of the table that Asked has heard of.
	TableIndex uint64 `json:"table_index"`
	// Paused and Throttle are what RING PAUSE and RING THROTTLE have set.
	Paused   bool  `json:"paused"`
	Throttle int64 `json:"throttle_bytes_per_second"`
	// ReplicaOf is the server that the cluster is a replica of; nil if there is none.
	ReplicaOf *ReplicaOf `json:"replica_of,omitempty"`
	// Ranges is how many the placement has; Short are those with fewer backups than are
	// wanted, or than there are other stores to have them; Lost those of which no node
	// that has a copy seems to be there.
	Ranges   int       `json:"ranges"`
	Short    int       `json:"ranges_short_of_backups"`
	Lost     int       `json:"ranges_lost"`
	Nodes    []Node    `json:"nodes"`    // by id
	Handoffs []Handoff `json:"handoffs"` // by number
	// Databases are those that have data or a policy, by number.
	Databases []Database `json:"databases,omitempty"`
	// Buckets is the placement, bucket by bucket, of strategy buckets.
	Buckets []Bucket `json:"buckets,omitempty"`
}

// A ReplicaOf is the server that REPLICAOF has named, and the node that copies from it.
type ReplicaOf struct {
	Addr string `json:"addr"`
	Node string `json:"node"`
}

// A Strategy is how keys are placed. Of its settings those count that it has.
type Strategy struct {
	Name       string `json:"name"`
	Hash       string `json:"hash"`
	Backups    int    `json:"backups"`
	Mask       string `json:"mask,omitempty"` // hexadecimal: the one that the cluster was founded with
	Points     int    `json:"points,omitempty"`
	KetamaRule string `json:"ketama_rule,omitempty"`
	VNodes     int    `json:"vnodes,omitempty"`
	Probes     int    `json:"probes,omitempty"`
	Candidates int    `json:"candidates,omitempty"`
	// Slack is how much above its share a node may be.
	Slack float64 `json:"slack,omitempty"`
	// ExactTo is the other system whose clients find every key; empty: none.
	ExactTo string `json:"exact_to,omitempty"`
}

// Healths of a [Node], as gossip has it at the node that was asked.
const (
	Alive  = "alive"
	Failed = "failed" // does not answer
	Left   = "left"   // said that it goes
	Unseen = "unseen" // has not been met since the asked node was started
)

// States of a [Node] in the table, and the one of a node that is in none yet.
const (
	Joining = "joining"
	Member  = "member"
	Leaving = "leaving"
	Stray   = "stray" // gossips, and is not registered
)

// A Node is one node of the cluster.
type Node struct {
	ID     string `json:"id"`
	Role   string `json:"role"` // store, proxy or witness
	State  string `json:"state"`
	Health string `json:"health"`
	// Since is when the asked node saw it take its health; nil if it was so at its
	// own start.
	Since   *time.Time `json:"since,omitempty"`
	Addr    string     `json:"addr,omitempty"` // where clients find it
	Weight  float64    `json:"weight"`
	Zone    string     `json:"zone,omitempty"`
	Voter   bool       `json:"voter"` // takes part in agreeing on the placement
	Version string     `json:"version,omitempty"`

	// Ranges that it serves, keeps a copy of, and is about to get one of.
	Primaries int `json:"primaries"`
	Backups   int `json:"backups"`
	Learners  int `json:"learners"`
	// Share is the part of all tokens that it serves, from 0 to 1.
	Share float64 `json:"share"`

	// Answered reports that what is below is known; Fault says why it is not.
	Answered bool   `json:"answered"`
	Fault    string `json:"fault,omitempty"`
	// Keys and Bytes are what it serves, estimated.
	Keys  int64 `json:"keys"`
	Bytes int64 `json:"bytes"`
	// Load is that of the ranges that it serves; nil if its build does not measure it.
	Load *Load `json:"load,omitempty"`
	// WritesRefused says why it takes no writes; empty if it does.
	WritesRefused string `json:"writes_refused,omitempty"`
	// Machine is what it takes of its machine; nil if its build does not tell.
	Machine *Machine `json:"machine,omitempty"`
	// Lease is its permission to answer; nil if it needs none, as a proxy.
	Lease *Lease `json:"lease,omitempty"`
	// Moved is what it has handed over since it was started.
	Moved Moved `json:"moved"`
	// Feeding is how it stands with its backups.
	Feeding Feeding `json:"feeding"`
	// Scrub is how it stands with the comparison of copies; nil if that is not known.
	Scrub *Scrub `json:"scrub,omitempty"`
}

// A Machine is what a node takes of its machine, in bytes.
type Machine struct {
	// Memory is that of the heap, the caches and the memtables.
	Memory int64 `json:"memory_bytes"`
	// DiskFree and DiskTotal are of the disk that has the data; both are 0 if that is not known.
	DiskFree  int64 `json:"disk_free_bytes"`
	DiskTotal int64 `json:"disk_total_bytes"`
}

// Feeding is how a node stands with its backups.
type Feeding struct {
	// Pending are changes that were sent to backups and are not acknowledged; PendingFor
	// is for how long the oldest has waited, in seconds.
	Pending    int     `json:"pending"`
	PendingFor float64 `json:"pending_seconds"`
}

// Moved counts what a node has handed over.
type Moved struct {
	Done   int64 `json:"handoffs_done"`
	Failed int64 `json:"handoffs_failed"` // tries that were given up
	Ranges int64 `json:"ranges"`
	Keys   int64 `json:"keys"`
	Bytes  int64 `json:"bytes"`
	// Traffic is how many bytes the network carried for it, both ways, digests included.
	Traffic int64 `json:"traffic_bytes"`
	// Rate is the mean of copying, in bytes a second; 0 if nothing was copied.
	Rate float64 `json:"bytes_per_second"`
	// Held is for how long ranges were held at cutovers, in seconds.
	Held float64 `json:"held_seconds"`
}

// A Handoff is a movement of ranges that is not done.
type Handoff struct {
	ID     uint64 `json:"id"`
	From   string `json:"from"`
	To     string `json:"to"`
	Phase  string `json:"phase"`
	Ranges int    `json:"ranges"` // that are still to change hands
	// Reported reports that its source has sent what is below.
	Reported   bool  `json:"reported"`
	KeysDone   int64 `json:"keys_done"`
	KeysTotal  int64 `json:"keys_total"` // 0: not known yet
	BytesDone  int64 `json:"bytes_done"`
	BytesTotal int64 `json:"bytes_total"`
	// Rate is in bytes a second, Left in seconds; nil if unknown.
	Rate    float64    `json:"bytes_per_second"`
	Left    *float64   `json:"seconds_left,omitempty"`
	Started *time.Time `json:"started,omitempty"`
	Waits   string     `json:"waits,omitempty"` // for what, if it does not go on
}

// A Bucket is one bucket and the nodes that have it.
type Bucket struct {
	Hashmask string   `json:"hashmask"` // ID/MASK, as HASHMASK has it
	Primary  string   `json:"primary"`  // empty: no node serves it
	Backups  []string `json:"backups,omitempty"`
	Learners []string `json:"learners,omitempty"`
}

// BucketsOf lists the buckets of a placement in the order of their tokens; nil if it
// is not one of buckets.
func BucketsOf(p *ring.Placement) []Bucket {
	t, err := buckets.TableOf(p)
	if err != nil {
		return nil
	}
	all := make([]Bucket, 0, p.Len())
	for row := range p.Rows() {
		all = append(all, Bucket{
			Hashmask: t.Lookup(row.Range.Start).Hashmask.String(),
			Primary:  row.Primary, Backups: row.Backups, Learners: row.Learners,
		})
	}
	return all
}

// SetLeft works out how long a handoff still takes, if it goes on as it does.
func (h *Handoff) SetLeft() {
	if h.Rate > 0 && h.BytesTotal > 0 {
		left := float64(max(h.BytesTotal-h.BytesDone, 0)) / h.Rate
		h.Left = &left
	}
}
