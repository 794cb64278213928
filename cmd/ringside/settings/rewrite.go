package settings

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ringside-kv/ringside/internal/durable"
)

// Path is the file that the settings were read from; empty if there is none.
func (s *Set) Path() string { return s.path }

// Rewrite changes a file of settings to the values of the running server, by name: where the file names a
// setting with another value, and where a value is not that of the start, which initial has. Comments and
// the lines of all other settings stay. The file is replaced as a whole, or not at all. It returns the
// names of what it has changed. The values of the set change meanwhile, so that it must be used for nothing
// else.
func (s *Set) Rewrite(file string, values, initial map[string]string) (changed []string, err error) {
	path, err := filepath.EvalSymlinks(file)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	inFile, err := flatYAML(old)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	next := map[string]string{}
	for name, value := range values {
		t := s.byName[name]
		if t == nil {
			continue
		}
		before, named := inFile[name]
		if !named {
			before = initial[name]
		}
		if t.canonical(before) != t.canonical(value) {
			next[name] = t.canonical(value)
			changed = append(changed, name)
		}
	}
	if slices.Sort(changed); len(changed) == 0 {
		return nil, nil
	}
	text, err := editYAML(old, s.names(), next)
	if err != nil {
		return nil, err
	}
	return changed, durable.ReplaceAs(path, text, info.Mode().Perm())
}

// names returns all settings, in the order in which they are listed.
func (s *Set) names() (names []string) {
	for _, g := range s.groups {
		for _, t := range g.settings {
			names = append(names, t.name)
		}
	}
	return names
}

// canonical is a text as the setting shows it, so that 1mb and 1048576 are the same. The setting keeps its
// value.
func (t *setting) canonical(text string) string {
	before := t.value.String()
	defer func() { _ = t.value.Set(before) }()
	if t.value.Set(text) != nil {
		return text
	}
	return t.value.String()
}

// flatYAML reads a file of settings: names and values as they are written.
func flatYAML(text []byte) (map[string]string, error) {
	node, err := yamlDocument(text)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		value := node.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if value.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: expected one value, found %s", value.Line, kindName(value))
		}
		values[node.Content[i].Value] = value.Value
	}
	return values, nil
}

// yamlDocument returns the map of a file, which is empty if there is none.
func yamlDocument(text []byte) (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if len(document.Content) == 0 || document.Content[0].Tag == "!!null" {
		return &yaml.Node{Kind: yaml.MappingNode}, nil
	}
	node := document.Content[0]
	if node.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("expected lines such as addr: 127.0.0.1:6379, found %s", kindName(node))
	}
	return node, nil
}

// errLayout says that a text cannot be edited line by line.
var errLayout = errors.New("the file is not one setting a line")

// editYAML gives settings new values: in the lines that have them, and at the end in the order of names. It
// changes nothing else. It fails if what comes of it would not hold all values.
func editYAML(text []byte, names []string, next map[string]string) ([]byte, error) {
	want, err := flatYAML(text)
	if err != nil {
		return nil, err
	}
	node, err := yamlDocument(text)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	inFile := map[string]bool{}
	// From the last one on, so that the numbers of earlier lines stay right.
	for i := len(node.Content) - 2; i >= 0; i -= 2 {
		key, value := node.Content[i], node.Content[i+1]
		inFile[key.Value] = true
		to, ok := next[key.Value]
		if !ok {
			continue
		}
		from, end := key.Line-1, valueEnd(lines, key, value)
		line, err := settingLine(key.Value, to, value.LineComment)
		if err != nil {
			return nil, err
		}
		if key.Column > 1 {
			line = indent(line, key.Column-1)
		}
		lines = slices.Replace(lines, from, end, line)
	}
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += "\n"
	}
	column := 1
	if len(node.Content) > 0 {
		column = node.Content[0].Column
	}
	for _, name := range names {
		if to, ok := next[name]; ok && !inFile[name] {
			line, err := settingLine(name, to, "")
			if err != nil {
				return nil, err
			}
			lines = append(lines, indent(line, column-1))
		}
	}
	edited := []byte(strings.Join(lines, ""))
	for name, value := range next {
		want[name] = value
	}
	if got, err := flatYAML(edited); err != nil || !maps.Equal(got, want) || !keepsComments(text, edited) {
		return nil, errLayout
	}
	return edited, nil
}

// keepsComments reports whether all comments of a text are in another.
func keepsComments(before, after []byte) bool {
	left := comments(after)
	for _, c := range comments(before) {
		i := slices.Index(left, c)
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

// comments returns the lines of all comments of a text that is YAML.
func comments(text []byte) (lines []string) {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil {
		return nil
	}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for _, c := range []string{n.HeadComment, n.LineComment, n.FootComment} {
			for line := range strings.Lines(c) {
				if line = strings.TrimSpace(line); line != "" {
					lines = append(lines, line)
				}
			}
		}
		for _, child := range n.Content {
			walk(child)
		}
	}
	walk(&document)
	return lines
}

// valueEnd returns the number of lines up to the end of a value. A block, and a value in quotes on several
// lines, goes on as long as the lines are indented more than the name, or empty.
func valueEnd(lines []string, key, value *yaml.Node) int {
	end := max(key.Line, value.Line)
	indented := func(line string) bool {
		text := strings.TrimLeft(line, " ")
		return strings.TrimSpace(line) == "" || len(line)-len(text) >= key.Column
	}
	last := end
	for ; end < len(lines) && indented(lines[end]); end++ {
		if strings.TrimSpace(lines[end]) != "" && !isComment(lines[end], value) {
			last = end + 1
		}
	}
	return last
}

// isComment reports whether a line is a comment behind a value: in a block it would be a part of it.
func isComment(line string, value *yaml.Node) bool {
	return value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && strings.HasPrefix(strings.TrimSpace(line), "#")
}

// settingLine is a setting as a file has it, with its line feed. Several lines are a block.
func settingLine(name, value, comment string) (string, error) {
	key, node := &yaml.Node{Kind: yaml.ScalarNode, Value: name}, &yaml.Node{}
	node.SetString(value)
	if strings.Trim(value, "0123456789") == "" && value != "" || isWord(value) {
		node.Tag = "" // no quotes around numbers and yes
	}
	if strings.TrimSpace(value) == "" || strings.HasSuffix(value, "\n\n") {
		node.Style = yaml.DoubleQuotedStyle // a block would have the empty lines that follow it
	}
	node.LineComment = comment
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := encoder.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, node}})
	return out.String(), errors.Join(err, encoder.Close())
}

// isWord reports whether a value is yes or no, which settings take as they are written.
func isWord(value string) bool { return value == "yes" || value == "no" }

// indent puts spaces in front of each line.
func indent(text string, n int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(strings.Repeat(" ", n))
		}
		b.WriteString(line)
	}
	return b.String()
}
