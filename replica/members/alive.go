package members

// AliveNodes says which of the nodes gossip shows as being there.
func AliveNodes(nodes []Node) map[string]bool {
	alive := make(map[string]bool)
	for _, m := range nodes {
		alive[m.ID] = m.Status == Alive
	}
	return alive
}

// ClientAddrs returns where clients find the nodes, all but one, that have data and are there.
func ClientAddrs(nodes []Node, but string) (addrs []string) {
	for _, m := range nodes {
		if m.ID != but && m.Status == Alive && m.Role == RoleStore && m.ClientAddr != "" {
			addrs = append(addrs, m.ClientAddr)
		}
	}
	return addrs
}
