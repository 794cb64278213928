package command

import "strings"

// What Redis derives from a row, so that no row has to say it.

// groupCategories are the ACL categories that a group implies.
var groupCategories = map[string]string{
	"generic":      "@keyspace",
	"string":       "@string",
	"bitmap":       "@bitmap",
	"hash":         "@hash",
	"list":         "@list",
	"set":          "@set",
	"sorted-set":   "@sortedset",
	"hyperloglog":  "@hyperloglog",
	"geo":          "@geo",
	"stream":       "@stream",
	"connection":   "@connection",
	"transactions": "@transaction",
	"scripting":    "@scripting",
	"json":         "@json",
	"bloom":        "@bloom",
}

// ACLCategories are the categories of ACL rules, without their @, in the order of ACL CAT. The last one is not
// Redis': it has the commands that Redis does not know.
var ACLCategories = strings.Fields("keyspace read write set sortedset list hash string bitmap hyperloglog geo stream pubsub admin fast slow blocking dangerous connection transaction scripting json bloom ring")

// isOwn reports whether a command is about the ring, as no command of Redis is.
func isOwn(c *Row) bool {
	name := c.Name
	if c.Parent != nil {
		name = c.Parent.Name
	}
	return name == "ring" || name == "hashmask" || name == "loadlevels"
}

// aclCategories lists the categories of a command in the order of COMMAND INFO.
func aclCategories(c *Row) []string {
	category := groupCategories[c.Group]
	switch {
	case c.Flags&(FlagContainer|FlagSorts) != 0:
		category = ""
	case c.Flags&FlagConnection != 0:
		category = "@connection"
	}
	is := func(flags Flag) bool { return c.Flags&flags != 0 }
	var list []string
	for _, candidate := range [...]struct {
		name string
		in   bool
	}{
		{"@keyspace", is(FlagKeyspace)},
		// Scripts may write whatever they say of themselves.
		{"@read", is(FlagReadonly) && category != "@scripting"},
		{"@write", is(FlagWrite)},
		{"@set", is(FlagSorts)},
		{"@sortedset", is(FlagSorts)},
		{"@list", is(FlagSorts)},
		{"@hash", false},
		{"@string", false},
		{"@bitmap", false},
		{"@hyperloglog", false},
		{"@geo", false},
		{"@stream", false},
		{"@pubsub", is(FlagPubSub)},
		{"@admin", is(FlagAdmin | FlagAsAdmin)},
		{"@fast", is(FlagFast)},
		{"@slow", !is(FlagFast)},
		{"@blocking", is(FlagBlocking)},
		{"@dangerous", is(FlagAdmin | FlagAsAdmin | FlagDangerous)},
		{"@connection", false},
		{"@transaction", false},
		{"@scripting", false},
		{"@json", false},
		{"@bloom", false},
		{"@ring", isOwn(c)},
	} {
		if candidate.in || candidate.name == category {
			list = append(list, candidate.name)
		}
	}
	return list
}

// LegacyKeys sums key specifications up in the three numbers that COMMAND INFO
// had before Redis 7: the first and last key and the distance between keys.
// Specifications that do not fit into them make the keys movable.
func LegacyKeys(specs []KeySpec) (first, last, step int, movable bool) {
	for i := range specs {
		s := &specs[i]
		end := s.Last
		if end >= 0 {
			end += s.Index
		}
		isRange := s.Index > 0 && !s.Keynum && !s.Unknown
		switch {
		case !isRange:
			movable = true
			continue
		case len(specs) == 1:
			return s.Index, end, s.Step, s.incomplete()
		case s.Step != 1 || last != 0 && last != s.Index-1:
			movable = true
			continue
		}
		movable = movable || s.incomplete()
		if first == 0 || s.Index < first {
			first = s.Index
		}
		// A negative end counts from the last argument: it is beyond any other.
		if last >= 0 && (end < 0 || end > last) {
			last = end
		}
		step = 1
	}
	return first, last, step, movable
}

// incomplete reports that the specification may miss some of the keys.
func (s *KeySpec) incomplete() bool { return strings.Contains(s.Flags, "incomplete") }

// HasKeys reports whether any argument can be a key.
func (c *Row) HasKeys() bool {
	for i := range c.Keys {
		if !c.Keys[i].NotKey {
			return true
		}
	}
	return false
}
