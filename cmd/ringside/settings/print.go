package settings

import (
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// mask stands for a secret that is set.
const mask = "********"

// Print writes the settings in effect as a file that [Set.Load] reads again, each
// with its source. Secrets are masked.
func (s *Set) Print(w io.Writer) error {
	document := &yaml.Node{Kind: yaml.MappingNode}
	for _, g := range s.groups {
		heading := g.title
		for _, t := range g.settings {
			if t.name == configName {
				continue
			}
			key := &yaml.Node{Kind: yaml.ScalarNode, Value: t.name, HeadComment: heading}
			value := &yaml.Node{}
			value.SetString(t.value.String())
			if _, isText := t.value.(*text); !isText && strings.Trim(value.Value, "0123456789") == "" {
				value.Tag = "!!int" // no quotes around numbers
			}
			if t.secret && value.Value != "" {
				value.Value = mask
			}
			if t.source != "" {
				value.LineComment = "from " + t.source
			}
			document.Content = append(document.Content, key, value)
			heading = ""
		}
	}
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(document); err != nil {
		return err
	}
	return encoder.Close()
}
