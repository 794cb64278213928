package outcome

import (
	"errors"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/resp/internal/relay"
)

func TestOutcomeRanksItsPartsInAnyOrder(t *testing.T) {
	add := map[string]func(*Outcome) bool{
		"made":     func(o *Outcome) bool { return o.Add(Answered, []byte(":1\r\n"), relay.Run, nil) },
		"refused":  func(o *Outcome) bool { return o.Add(Answered, []byte("-NO\r\n"), relay.Run, nil) },
		"silent":   func(o *Outcome) bool { return o.Add(Silent, nil, relay.Run, relay.ErrTimeout) },
		"unsaid":   func(o *Outcome) bool { return o.Add(Unknown, nil, relay.Run, errors.New("lost")) },
		"unproved": func(o *Outcome) bool { return o.Add(Answered, []byte("-UNKNOWN x\r\n"), relay.Unknown, nil) },
		"not run":  func(o *Outcome) bool { return o.Add(NotRun, nil, relay.Run, ErrNotRun) },
	}
	rank := map[string]int{"made": 0, "not run": 0, "refused": 1, "silent": 1, "unsaid": 2, "unproved": 2}
	for a, addA := range add {
		for b, addB := range add {
			for c, addC := range add {
				var o Outcome
				for _, one := range []struct {
					name string
					add  func(*Outcome) bool
				}{{a, addA}, {b, addB}, {c, addC}} {
					if again := one.add(&o); again != (one.name == "not run") {
						t.Fatalf("%s may be sent again: %v", one.name, again)
					}
				}
				worst := max(rank[a], rank[b], rank[c])
				madeSome := a == "made" || b == "made" || c == "made"
				msg := o.Msg(true)
				isUnknown := strings.HasPrefix(msg, "UNKNOWN ")
				switch {
				case worst == 0 && msg != "", worst > 0 && msg == "":
					t.Errorf("%s, %s, %s: %q", a, b, c, msg)
				case worst == 2 && !isUnknown, worst == 1 && isUnknown != madeSome:
					t.Errorf("%s, %s, %s of a write: %q", a, b, c, msg)
				}
				if msg := o.Msg(false); worst == 1 && strings.HasPrefix(msg, "UNKNOWN") {
					t.Errorf("%s, %s, %s of a read: %q", a, b, c, msg)
				}
			}
		}
	}
}
