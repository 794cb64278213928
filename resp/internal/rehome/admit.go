package rehome

import (
	"github.com/ringside-kv/ringside/internal/database"
)

// A Verb is what a node is ordered to do with keys.
type Verb int

// The orders of a step.
const (
	Fetch Verb = iota // read keys at their old places
	Place             // write copies at their new places
	Drop              // delete what does not count
)

// Admit reports whether an order for a stored key, given under a step, may be carried out by some policies.
func Admit(policies *database.Policies, data int, step uint64, v Verb, stored []byte) bool {
	p, head := policies.Of(data), database.HeadOf(stored)
	if !p.Moving || p.Step != step || head.Number() != data || p.Change != 0 {
		return false
	}
	at := policies.Position(stored)
	waits := at >= p.Move.Cursor && at < p.Move.Until
	switch v {
	case Fetch:
		return waits && head == p.Old().Head()
	case Place:
		return waits && head == p.Head()
	}
	return !waits && (head == p.Old().Head() || head == p.Head()) && !policies.Serves(stored)
}

// VerbOf returns the order of a command of RING, and how many words stand for each key.
func VerbOf(name string) (v Verb, words int) {
	switch name {
	case "fetch":
		return Fetch, 1
	case "place":
		return Place, 2
	}
	return Drop, 1
}
