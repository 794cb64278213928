package settings

// TakeFlags gives the set the command line of another set of the same settings, so that
// Load reads all sources anew.
func (s *Set) TakeFlags(from *Set) {
	s.command = from.command
	for name, t := range from.byName {
		s.byName[name].flagTexts = t.flagTexts
	}
}

// Changed returns the names of the settings whose values differ from those of another set
// of the same settings, in the order of their groups.
func (s *Set) Changed(from *Set) []string {
	var names []string
	for _, g := range s.groups {
		for _, t := range g.settings {
			if t.name != configName && t.value.String() != from.byName[t.name].value.String() {
				names = append(names, t.name)
			}
		}
	}
	return names
}
