package resp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// redisCommands are the groups of commands of Redis 7.0, in order, and the full names of the
// commands of each.
func redisCommands(t *testing.T) (groups []string, names map[string][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "redis-7.0-commands.txt"))
	if err != nil {
		t.Fatal(err)
	}
	names = make(map[string][]string)
	for line := range strings.Lines(string(text)) {
		group, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if names[group] == nil {
			groups = append(groups, group)
		}
		names[group] = append(names[group], name)
	}
	return groups, names
}

func TestListOfRedisCommandsIsRight(t *testing.T) {
	o := resptest.Dial(t, redistest.Start7(t), 2)
	_, names := redisCommands(t)
	var want, got []string
	for _, list := range names {
		want = append(want, list...)
	}
	for _, e := range o.Do("COMMAND", "LIST").Elems {
		got = append(got, e.Text)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("Redis has %v, the list is %v", got, want)
	}
}

// spoken is a command's name as clients write it.
func spoken(full string) string { return strings.ToUpper(strings.ReplaceAll(full, "|", " ")) }

// compatibility is the row of a group in docs/commands.md: all of its row but the last
// column.
func compatibility(table *command.Table, group string, redis []string) string {
	var missing, refused, split, several, spread []string
	subsMissing := 0 // of commands that are missing themselves
	for _, full := range redis {
		c := table.ByName[full]
		container, _, _ := strings.Cut(full, "|")
		switch {
		case table.ByName[container] == nil && container != full:
			subsMissing++
			continue
		case c == nil:
			missing = append(missing, spoken(full))
			continue
		case c.Refusal != "":
			refused = append(refused, spoken(full))
			continue
		case c.Merge != command.MergeNone:
			split = append(split, spoken(full))
		case c.Spread:
			spread = append(spread, spoken(full))
		case takesSeveralKeys(c):
			several = append(several, spoken(full))
		}
	}
	works := fmt.Sprintf("all %d", len(redis))
	if n := len(redis) - len(missing) - len(refused) - subsMissing; n < len(redis) {
		works = fmt.Sprintf("%d of %d", n, len(redis))
	}
	list := func(parts ...any) string {
		var all []string
		for i := 0; i < len(parts); i += 2 {
			if names := parts[i+1].([]string); len(names) > 0 {
				all = append(all, parts[i].(string)+": "+strings.Join(names, ", "))
			}
		}
		return strings.Join(all, "; ")
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", group, works,
		list("split", split, "all nodes", spread, "one node", several),
		list("refused", refused, "missing", missing))
}

func takesSeveralKeys(c *command.Row) bool {
	if !c.HasKeys() {
		return false // channels
	}
	several := len(c.Keys) > 1
	for _, spec := range c.Keys {
		several = several || !spec.NotKey && (spec.Last != 0 || spec.Keynum)
	}
	return several
}

// The table of docs/commands.md agrees with the table of commands, and its list names every
// command.
func TestDocsSayWhichCommandsWork(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	section := string(text)
	table := newCommandTable()
	groups, names := redisCommands(t)
	for _, group := range groups {
		row := compatibility(table, group, names[group])
		if !strings.Contains(section, "\n"+row) {
			t.Errorf("the row of %s in docs/commands.md has to begin:\n%s", group, row)
		}
	}
	list, _, _ := strings.Cut(section, "\n| group |")
	named := strings.FieldsFunc(list, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
	for _, c := range table.Top {
		if c.Refusal == "" && !isOnPurpose(c.Full) && !slices.Contains(named, strings.ToUpper(c.Name)) {
			t.Errorf("docs/commands.md does not name %s", strings.ToUpper(c.Name))
		}
	}
}
