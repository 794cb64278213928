package resp

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
}

// aclCategories lists the categories of a command in the order of COMMAND INFO.
func aclCategories(c *command) []string {
	category := groupCategories[c.group]
	switch {
	case c.flags&(flagContainer|flagSorts) != 0:
		category = ""
	case c.flags&flagConnection != 0:
		category = "@connection"
	}
	is := func(flags cmdFlag) bool { return c.flags&flags != 0 }
	var list []string
	for _, candidate := range [...]struct {
		name string
		in   bool
	}{
		{"@keyspace", is(flagKeyspace)},
		// Scripts may write whatever they say of themselves.
		{"@read", is(flagReadonly) && category != "@scripting"},
		{"@write", is(flagWrite)},
		{"@set", is(flagSorts)},
		{"@sortedset", is(flagSorts)},
		{"@list", is(flagSorts)},
		{"@hash", false},
		{"@string", false},
		{"@bitmap", false},
		{"@hyperloglog", false},
		{"@geo", false},
		{"@stream", false},
		{"@pubsub", is(flagPubSub)},
		{"@admin", is(flagAdmin | flagAsAdmin)},
		{"@fast", is(flagFast)},
		{"@slow", !is(flagFast)},
		{"@blocking", is(flagBlocking)},
		{"@dangerous", is(flagAdmin | flagAsAdmin | flagDangerous)},
		{"@connection", false},
		{"@transaction", false},
		{"@scripting", false},
	} {
		if candidate.in || candidate.name == category {
			list = append(list, candidate.name)
		}
	}
	return list
}

// legacyKeys sums key specifications up in the three numbers that COMMAND INFO
// had before Redis 7: the first and last key and the distance between keys.
// Specifications that do not fit into them make the keys movable.
func legacyKeys(specs []keySpec) (first, last, step int, movable bool) {
	for i := range specs {
		s := &specs[i]
		end := s.last
		if end >= 0 {
			end += s.index
		}
		isRange := s.index > 0 && !s.keynum && !s.unknown
		switch {
		case !isRange:
			movable = true
			continue
		case len(specs) == 1:
			return s.index, end, s.step, s.incomplete()
		case s.step != 1 || last != 0 && last != s.index-1:
			movable = true
			continue
		}
		movable = movable || s.incomplete()
		if first == 0 || s.index < first {
			first = s.index
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
func (s *keySpec) incomplete() bool { return strings.Contains(s.flags, "incomplete") }

// hasKeys reports whether any argument can be a key.
func (c *command) hasKeys() bool {
	for i := range c.keys {
		if !c.keys[i].notKey {
			return true
		}
	}
	return false
}
