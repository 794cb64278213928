package settings

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// A Fault is one thing that is wrong in one place.
type Fault struct {
	Source string // "--fsync", "RINGSIDE_FSYNC", "ringside.yaml:3"
	Text   string
}

// Error returns the source and the text, on one line.
func (f *Fault) Error() string {
	return strings.Join(strings.FieldsFunc(f.Source+": "+f.Text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// Load gives every setting the value of its strongest source. The error joins one
// [*Fault] for each fault of every source; a setting whose strongest value is
// faulty keeps its default. args is what the command line holds after the
// command's name, rest what the command's flags have left of it, environ the
// environment as from os.Environ.
func (s *Set) Load(args, rest, environ []string) error {
	l := loader{Set: s, taken: map[string]bool{}}
	l.flags(args, rest)
	l.environ(environ)
	if s.path != "" {
		l.yamlFile(s.path)
	}
	return errors.Join(l.faults...)
}

// LoadFlags is Load for a command that looks at neither variables nor a file, and
// whose arguments are its own.
func (s *Set) LoadFlags(args []string) error {
	l := loader{Set: s, taken: map[string]bool{}}
	l.flags(args, nil)
	return errors.Join(l.faults...)
}

// loader is one run of Load. Sources are read from the strongest to the weakest;
// the first that names a setting takes it, and the values that it hides are
// checked all the same.
type loader struct {
	*Set
	taken  map[string]bool
	faults []error
}

func (l *loader) fault(source, format string, args ...any) {
	l.faults = append(l.faults, &Fault{source, fmt.Sprintf(format, args...)})
}

// set gives a setting the text that a source has for it.
func (l *loader) set(t *setting, source, text string) {
	if t.secret && text == mask {
		l.fault(source, "a secret that was masked when the settings were printed; put the real one in its place")
		return
	}
	if l.taken[t.name] {
		// A value that is hidden is still a fault: it waits for the day on which
		// the other one goes.
		if err := check(t.value, text); err != nil {
			l.fault(source, "%v", err)
		}
		return
	}
	l.taken[t.name] = true
	t.source = source
	if err := t.value.Set(text); err != nil {
		l.fault(source, "%v", err)
	}
}

// check tells what is wrong with a text and leaves the value as it was.
func check(value pflag.Value, text string) error {
	before := value.String()
	err := value.Set(text)
	if restored := value.Set(before); restored != nil {
		panic("settings: a value does not take its own text: " + restored.Error())
	}
	return err
}
