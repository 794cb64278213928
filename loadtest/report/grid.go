package report

// A Grid is a table: the first column is what a row is about.
type Grid struct {
	Head []string
	Rows [][]Cell
}

// A Cell is a figure in a table.
type Cell struct {
	Text string
	Soft string // what is said beside it, with less weight
	Best bool   // of its row
	// Yardstick tells that it is not one of those that are compared.
	Yardstick bool
}
