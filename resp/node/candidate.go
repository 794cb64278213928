package node

import (
	"cmp"
	"fmt"
)

// A candidateState is what decides, beside the stored choice, how a node answers a founder.
type candidateState struct {
	id, role string
	expect   int
	begun    bool // it has a log of the table, as a founder or a member
	founding bool // it is about to found
	met      bool // it has met an existing cluster
}

// promise returns the choice of a node after a founder has asked for its promise, or the reason to
// refuse. It is pure; bootstrap.go has the rules.
func (m membership) promise(s candidateState, founder string, q *question) (membership, string) {
	switch {
	case q.Generation == 0:
		return m, "generation 0 is none"
	case m.Entered || s.begun:
		return m, fmt.Sprintf("it is in a cluster, of generation %d", m.Generation)
	case m.Generation == q.Generation && m.Founder == founder:
		return m, "" // promised before
	case s.role != RoleStore || s.expect != q.Expect:
		return m, fmt.Sprintf("it is a %s with bootstrap-expect %d", s.role, s.expect)
	case s.met:
		return m, "it has met a cluster that is there already"
	case m.Generation == 0, m.Founder == founder, m.Founder == s.id && !s.founding && founder < s.id:
		m.Generation, m.Founder = q.Generation, founder
		return m, ""
	default:
		return m, fmt.Sprintf("it has chosen generation %d, founded by %s", m.Generation, cmp.Or(m.Founder, "others"))
	}
}
