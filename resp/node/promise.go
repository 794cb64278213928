package node

import (
	"cmp"
	"fmt"
)

// A standing is what, beside its choice, decides how a node answers a founder.
type standing struct {
	id, role string
	expect   int
	begun    bool // it has a log of the table: of what it founded, or entered
	founding bool // it is about to have one, as the founder
	met      bool // it sees a cluster that is there
}

// promise is the choice of a node after a founder has asked for its promise, or why it
// gives none. It is pure; bootstrap.go has the rules.
func (b belonging) promise(s standing, founder string, q *question) (belonging, string) {
	switch {
	case q.Generation == 0:
		return b, "generation 0 is none"
	case b.Entered || s.begun:
		return b, fmt.Sprintf("it is in a cluster, of generation %d", b.Generation)
	case b.Generation == q.Generation && b.Founder == founder:
		return b, "" // said before
	case s.role != RoleStore || s.expect != q.Expect:
		return b, fmt.Sprintf("it is a %s with bootstrap-expect %d", s.role, s.expect)
	case s.met:
		return b, "it has met a cluster that is there already"
	case b.Generation == 0, b.Founder == founder, b.Founder == s.id && !s.founding && founder < s.id:
		b.Generation, b.Founder = q.Generation, founder
		return b, ""
	default:
		return b, fmt.Sprintf("it has chosen generation %d, founded by %s", b.Generation, cmp.Or(b.Founder, "others"))
	}
}
