package orders

import (
	"errors"
	"strings"

	"github.com/ringside-kv/ringside/ring"
)

// A Change is what RING PLAN asks about.
type Change struct {
	Join  []ring.Member
	Leave []string
	// Strategy is a strategy to switch to, with names and values of its settings; empty: the
	// present one stays.
	Strategy string
	Settings []string
	// Load asks for the moves that even the load, and for nothing else.
	Load bool
}

var errSyntax = errors.New("syntax error")

// ParseChange returns the change that the words after RING PLAN are about.
func ParseChange(words []string) (c Change, err error) {
	if len(words) == 1 {
		if !strings.EqualFold(words[0], "load") {
			return c, errors.New("wrong number of arguments for 'ring|plan' command")
		}
		return Change{Load: true}, nil
	}
	mode := ""
	for _, word := range words {
		switch lower := strings.ToLower(word); {
		case mode == "zone": // whatever its name is
			last := &c.Join[len(c.Join)-1]
			last.Zone, mode = word, "join"
			if err := last.Validate(); err != nil {
				return c, err
			}
		case lower == "join" || lower == "leave" || lower == "strategy":
			mode = lower
		case lower == "zone" && mode == "join" && len(c.Join) > 0:
			mode = lower
		case mode == "join":
			m, err := ring.ParseMember(word)
			if err != nil {
				return c, err
			}
			c.Join = append(c.Join, m)
		case mode == "leave":
			c.Leave = append(c.Leave, word)
		case mode == "strategy" && c.Strategy == "":
			c.Strategy = word
		case mode == "strategy":
			c.Settings = append(c.Settings, word)
		default:
			return c, errSyntax
		}
	}
	if len(c.Join)+len(c.Leave)+len(c.Strategy) == 0 || mode == "zone" {
		return c, errSyntax
	}
	return c, nil
}
