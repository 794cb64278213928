package moment

// A Moment is what all primaries held at one time, and where it can be read: the reply to RING BACKUP START.
type Moment struct {
	ID string `json:"id"`
	// AtMS is the time, in ms since 1970, by the clock of the node that was asked.
	AtMS int64 `json:"at_ms"`
	// PauseMS is for how long writes waited, at the node where that took longest.
	PauseMS float64 `json:"pause_ms"`
	// Parts is empty in the manifest of a backup, which lists files instead.
	Parts []Part `json:"parts,omitempty"`

	Cluster    string `json:"cluster"`
	Generation string `json:"generation"`
	Strategy   string `json:"strategy"`
	Hash       string `json:"hash"`
	Settings   any    `json:"settings,omitempty"` // of the strategy
	Backups    int    `json:"backups"`
	Databases  int    `json:"databases"`
	Together   []int  `json:"together,omitempty"` // databases that are kept together
	// Limits are the quotas and the eviction policies of databases, by their numbers.
	Limits []Limit `json:"limits,omitempty"`
	// Atomic are the users whose transactions and scripts are undone by an error: see RING USER.
	Atomic     []string `json:"atomic_users,omitempty"`
	Version    string   `json:"version"` // of the node that was asked
	TableIndex uint64   `json:"table_index"`
}

// A Limit is what is agreed for one database.
type Limit struct {
	Database int `json:"database"`
	// Bytes is how many bytes it may have; 0: any.
	Bytes int64 `json:"bytes,omitempty"`
	// Policy says which of its keys are evicted; empty: that of the node.
	Policy string `json:"policy,omitempty"`
}

// A Part is what one node held.
type Part struct {
	Node       string   `json:"node"`
	Ranges     []string `json:"ranges"`
	KeysAbout  int64    `json:"keys_about"`
	BytesAbout int64    `json:"bytes_about"`
}
