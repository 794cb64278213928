package settings

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlFile takes what a file holds: one flat map of settings. The text of a
// scalar is taken as it is written, so that `fsync: no` and a password of digits
// mean what they say.
func (l *loader) yamlFile(path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		l.fault(l.Source(configName), "%v", err)
		return
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return // nothing but comments
	case err != nil:
		l.syntaxFault(path, err)
		return
	}
	if err := decoder.Decode(new(yaml.Node)); err == nil {
		l.fault(path, "holds more than one document")
	} else if !errors.Is(err, io.EOF) {
		l.syntaxFault(path, err)
	}
	l.yamlMap(path, document.Content[0])
}

func (l *loader) yamlMap(path string, node *yaml.Node) {
	at := func(node *yaml.Node) string { return path + ":" + strconv.Itoa(node.Line) }
	if node.Tag == "!!null" {
		return
	}
	if node.Kind != yaml.MappingNode {
		l.fault(at(node), "expected lines such as addr: 127.0.0.1:6379, found %s", kindName(node))
		return
	}
	firstLine := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if line, again := firstLine[key.Value]; again {
			l.fault(at(key), "%s is set on line %d already", key.Value, line)
			continue
		}
		firstLine[key.Value] = key.Line
		t := l.byName[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			l.fault(at(key), "expected the name of a setting, found %s", kindName(key))
		case key.Value == configName:
			l.fault(at(key), "a file cannot name another; use --config or %s", l.variable(configName))
		case t == nil:
			l.fault(at(key), "%s: no such setting%s", key.Value, l.suggest("", key.Value))
		case value.Kind != yaml.ScalarNode:
			l.fault(at(value), "%s: expected one value, found %s", key.Value, kindName(value))
		case value.Tag == "!!null":
			l.fault(at(value), `%s: has no value; give one, or leave the line out`, key.Value)
		default:
			l.setFromFile(t, at(value), value.Value)
		}
	}
}

// setFromFile names the setting in the fault: unlike a flag and a variable, the
// place in a file does not.
func (l *loader) setFromFile(t *setting, source, text string) {
	from := len(l.faults)
	t.fromFile = !l.taken[t.name]
	l.set(t, source, text)
	for _, err := range l.faults[from:] {
		fault := err.(*Fault)
		fault.Text = t.name + ": " + fault.Text
	}
}

func kindName(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Kind == yaml.MappingNode:
		return "a map"
	default:
		return strconv.Quote(node.Value)
	}
}

// yamlLine is how the YAML package begins an error that has a place.
var yamlLine = regexp.MustCompile(`^line (\d+): `)

func (l *loader) syntaxFault(path string, err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		path += ":" + m[1]
		text = text[len(m[0]):]
	}
	l.fault(path, "not YAML: %s", text)
}
