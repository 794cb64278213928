package settings

import (
	"strings"
)

// flags takes what the command line holds.
func (l *loader) flags(args, rest []string) {
	l.unknownFlags(args)
	for _, arg := range rest {
		l.fault("arguments", "%q is not expected; settings are written --name value", arg)
	}
	for _, g := range l.groups {
		for _, t := range g.settings {
			texts := t.flagTexts
			if _, isList := t.value.(*list); !isList && len(texts) > 1 {
				texts = texts[len(texts)-1:]
			}
			for _, text := range texts {
				l.taken[t.name] = false // a list takes each
				l.set(t, "--"+t.name, text)
			}
		}
	}
}

// unknownFlags reports the flags that the command does not have, which pflag has
// skipped together with the word after them. It follows pflag's reading of the
// line: a flag without "=" takes the next word.
func (l *loader) unknownFlags(args []string) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			return
		}
		if len(arg) < 2 || arg[0] != '-' {
			continue
		}
		var known, takesNext bool
		name, _, joined := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if strings.HasPrefix(arg, "--") {
			if flag := l.command.Flags().Lookup(name); flag != nil {
				known, takesNext = true, flag.NoOptDefVal == ""
			}
		} else {
			name = arg[1:2]
			known = l.command.Flags().ShorthandLookup(name) != nil
			joined = len(arg) > 2
		}
		if !known {
			dashes := arg[:len(arg)-len(strings.TrimLeft(arg, "-"))]
			l.fault(dashes+name, "no such flag%s", l.suggest("--", name))
			takesNext = len(args) > 0 && !strings.HasPrefix(args[0], "-")
		}
		if takesNext && !joined && len(args) > 0 {
			args = args[1:]
		}
	}
}
