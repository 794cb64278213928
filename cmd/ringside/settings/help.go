package settings

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Columns of the help: flags to the left, what they mean to the right.
const (
	flagColumn = 36
	lastColumn = 100
)

// usage is what follows a command's description: how to call it, examples, its
// settings by group, and its other flags.
func (s *Set) usage(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	for _, g := range s.groups {
		fmt.Fprintf(&b, "\n%s:\n", g.title)
		for _, t := range g.settings {
			usage := t.usage
			if d := t.value.String(); d != "" && !t.secret {
				usage += " (default " + d + ")"
			}
			line(&b, "--"+t.name+" "+t.value.Type(), usage)
		}
	}
	b.WriteString("\nOther flags:\n")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if s.byName[f.Name] == nil && !f.Hidden {
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			line(&b, name, f.Usage)
		}
	})
	return b.String()
}

// line writes a flag and what it means, wrapped in the right column.
func line(b *strings.Builder, flag, usage string) {
	if len(flag) > flagColumn-4 {
		fmt.Fprintf(b, "  %s\n%*s", flag, flagColumn, "")
	} else {
		fmt.Fprintf(b, "  %-*s", flagColumn-2, flag)
	}
	column := flagColumn
	for i, word := range strings.Fields(usage) {
		if column+1+len(word) > lastColumn {
			fmt.Fprintf(b, "\n%*s", flagColumn, "")
			column = flagColumn
		} else if i > 0 {
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	b.WriteByte('\n')
}
