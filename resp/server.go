package resp

// Server is the RESP front of one node.
type Server struct {
	table *commandTable
}
