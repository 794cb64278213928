package settings

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// configName is the one setting that only flags and variables have: the file
// cannot name another.
const configName = "config"

// A Set is the settings of one command. It is filled once, at start-up, by one
// goroutine.
type Set struct {
	prefix  string // of variables, with its underscore
	groups  []group
	byName  map[string]*setting
	byAKA   map[string]string // names that people know from elsewhere
	exempt  []func(name, value string) bool
	path    string // of the file
	command *cobra.Command
}

// group is a heading of the help with the settings below it.
type group struct {
	title    string
	settings []*setting
}

// setting is one thing that can be set. As a flag it only takes the text, so that
// a bad value does not end the parsing of the flags after it.
type setting struct {
	name, usage string
	value       pflag.Value
	secret      bool
	choices     []string
	files       bool
	directories bool

	flagTexts []string // as given; the last one counts, all of a list
	source    string   // where the value came from; empty: the default
	fromFile  bool
}

// New returns an empty set whose variables start with the prefix and an
// underscore.
func New(prefix string) *Set {
	return &Set{prefix: prefix + "_", byName: map[string]*setting{}, byAKA: map[string]string{}}
}

// Group starts a group; the settings added from now on are listed below it.
func (s *Set) Group(title string) { s.groups = append(s.groups, group{title: title}) }

// An Option is a property of a setting.
type Option func(*setting)

// Secret keeps a value out of what [Set.Print] writes.
func Secret() Option { return func(t *setting) { t.secret = true } }

// Choices are offered on completion.
func Choices(values ...string) Option { return func(t *setting) { t.choices = values } }

// Files makes completion offer files.
func Files() Option { return func(t *setting) { t.files = true } }

// Directories makes completion offer directories.
func Directories() Option { return func(t *setting) { t.directories = true } }

// Add adds a setting to the last group. What the value holds now is the default;
// its Type is shown in the help as what to write.
func (s *Set) Add(name string, value pflag.Value, usage string, options ...Option) {
	t := &setting{name: name, usage: usage, value: value}
	for _, option := range options {
		option(t)
	}
	if s.byName[name] != nil || len(s.groups) == 0 {
		panic("settings: " + name + " twice, or before a group")
	}
	s.byName[name] = t
	g := &s.groups[len(s.groups)-1]
	g.settings = append(g.settings, t)
}

// AddConfig adds --config FILE, which the other settings are read from.
func (s *Set) AddConfig(usage string) {
	s.Add(configName, Text(&s.path, "FILE"), usage, Files())
}

// AlsoKnownAs names a setting for users of other programs: one who writes
// the other name is told this one.
func (s *Set) AlsoKnownAs(other, name string) { s.byAKA[other] = name }

// Exempt lets variables with the prefix be that are no settings.
func (s *Set) Exempt(accepted func(name, value string) bool) { s.exempt = append(s.exempt, accepted) }

// AddTo gives the command its flags, their completion and their help. The
// command must not have local flags of its own with the same names.
func (s *Set) AddTo(cmd *cobra.Command) {
	s.command = cmd
	// Unknown flags are reported by Load, together with everything else.
	cmd.FParseErrWhitelist.UnknownFlags = true
	flags := cmd.Flags()
	for _, g := range s.groups {
		for _, t := range g.settings {
			flags.Var(flagValue{t}, t.name, t.usage)
			var complete cobra.CompletionFunc
			switch {
			case t.choices != nil:
				complete = cobra.FixedCompletions(t.choices, cobra.ShellCompDirectiveNoFileComp)
			case t.files:
				continue // what shells do by themselves
			case t.directories:
				complete = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
			default:
				complete = cobra.NoFileCompletions
			}
			if err := cmd.RegisterFlagCompletionFunc(t.name, complete); err != nil {
				panic(err) // the flag was added above
			}
		}
	}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprint(cmd.OutOrStderr(), s.usage(cmd))
		return err
	})
}

// flagValue is the setting as pflag sees it.
type flagValue struct{ t *setting }

func (f flagValue) Set(text string) error {
	f.t.flagTexts = append(f.t.flagTexts, text)
	return nil
}

func (f flagValue) String() string {
	if n := len(f.t.flagTexts); n > 0 {
		return f.t.flagTexts[n-1]
	}
	return f.t.value.String()
}

func (f flagValue) Type() string { return f.t.value.Type() }

// Source says where the value of a setting came from, as a [Fault] names it; for
// a default it is the flag.
func (s *Set) Source(name string) string {
	if t := s.byName[name]; t != nil && t.source != "" {
		return t.source
	}
	return "--" + name
}

// Given tells whether any source has named a setting.
func (s *Set) Given(name string) bool {
	t := s.byName[name]
	return t != nil && t.source != ""
}

// FromFile tells whether a setting has the value of the file.
func (s *Set) FromFile(name string) bool {
	t := s.byName[name]
	return t != nil && t.fromFile
}

// Where is the source of a setting for a fault of its value. It ends with the
// name where the source does not hold it.
func (s *Set) Where(name string) string {
	if t := s.byName[name]; t != nil && t.fromFile {
		return t.source + ": " + name
	}
	return s.Source(name)
}
