package settings

import (
	"sort"
	"strings"
)

// variable is the name of a setting as an environment variable.
func (s *Set) variable(name string) string {
	return s.prefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// environ takes what variables hold. An empty variable counts as not set, since
// that is how Compose and shells pass on what they have not.
func (l *loader) environ(environ []string) {
	environ = append([]string(nil), environ...)
	sort.Strings(environ)
	names := map[string]*setting{}
	for name, t := range l.byName {
		names[l.variable(name)] = t
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, l.prefix) {
			continue
		}
		if t := names[name]; t != nil {
			if value != "" {
				l.set(t, name, value)
			}
			continue
		}
		if !l.isExempt(name, value) {
			short := strings.TrimPrefix(name, l.prefix)
			l.fault(name, "no such setting%s", l.suggest(l.prefix, short))
		}
	}
}

func (s *Set) isExempt(name, value string) bool {
	for _, accepted := range s.exempt {
		if accepted(name, value) {
			return true
		}
	}
	return false
}
