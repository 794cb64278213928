package resp

// commandTable finds commands by name.
type commandTable struct{}
