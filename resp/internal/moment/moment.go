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
	Version    string `json:"version"`            // of the node that was asked
	TableIndex uint64 `json:"table_index"`
}

// A Part is what one node held.
type Part struct {
	Node       string   `json:"node"`
	Ranges     []string `json:"ranges"`
	KeysAbout  int64    `json:"keys_about"`
	BytesAbout int64    `json:"bytes_about"`
}
