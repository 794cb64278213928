package sim

// byMod is hash mod n over the list of nodes in the order in which they joined; the
// backups are the next in the list.
type byMod struct {
	script  *script
	backups int

	before, now []int32
}

func (m *byMod) turn(scene int) { m.before, m.now = m.now, m.script.scenes[scene].places }

func (m *byMod) start(_ int, hash uint64, s *seat) {
	s.after = m.owners(s.after[:0], m.now, hash)
}

func (m *byMod) move(_ int, hash uint64, s *seat) bool {
	s.before = m.owners(s.before[:0], m.before, hash)
	s.after = m.owners(s.after[:0], m.now, hash)
	return !equalOwners(s.before, s.after)
}

func (m *byMod) owners(to, nodes []int32, hash uint64) []int32 {
	at := place(hash, len(nodes))
	for range min(m.backups+1, len(nodes)) {
		to = append(to, nodes[at])
		if at++; at == len(nodes) {
			at = 0
		}
	}
	return to
}

// place is the hash mod n. The hash is mixed well enough for its upper half to do,
// which divides in half the time.
func place(hash uint64, n int) int { return int(uint32(hash>>32) % uint32(n)) }

func (m *byMod) first(hash uint64) int32 { return m.now[place(hash, len(m.now))] }

func (m *byMod) bytes() int { return listBytes(m.script, m.now) }

// listBytes is the memory of a list of nodes.
func listBytes(s *script, places []int32) int {
	const stringBytes = 16
	n := 0
	for _, i := range places {
		n += stringBytes + len(s.nodes[i])
	}
	return n
}
