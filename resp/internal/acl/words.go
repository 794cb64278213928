package acl

import (
	"strconv"
	"strings"
)

// mergeSelectors joins the rules of a selector that were given as several arguments.
func mergeSelectors(rules []string) ([]string, error) {
	var merged, open []string
	for _, rule := range rules {
		switch {
		case open == nil && strings.HasPrefix(rule, "(") && !strings.HasSuffix(rule, ")"):
			open = []string{rule}
		case open == nil:
			merged = append(merged, rule)
		default:
			open = append(open, rule)
			if strings.HasSuffix(rule, ")") {
				merged, open = append(merged, strings.Join(open, " ")), nil
			}
		}
	}
	if open != nil {
		return nil, ruleError("Unmatched parenthesis in acl selector starting at '" + open[0] + "'.")
	}
	return merged, nil
}

// splitWords splits a text at white space. A word may be in quotes, in double ones with escapes as \n and
// \x0a. It returns false if a quote has no end, or something follows it.
func splitWords(text string) (words []string, ok bool) {
	for {
		text = strings.TrimLeft(text, " \t\n\v\f\r")
		if text == "" {
			return words, true
		}
		var word strings.Builder
		for text != "" && !hasSpace(text[:1]) {
			quote := text[0]
			if quote != '"' && quote != '\'' {
				word.WriteByte(text[0])
				text = text[1:]
				continue
			}
			part, rest, closed := cutQuoted(text[1:], quote)
			if !closed || rest != "" && !hasSpace(rest[:1]) {
				return nil, false
			}
			word.WriteString(part)
			text = rest
		}
		if text != "" && text[0] == 0 {
			return nil, false
		}
		words = append(words, word.String())
	}
}

// cutQuoted returns what is in front of a quote, and what is behind it.
func cutQuoted(text string, quote byte) (part, rest string, closed bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			return b.String(), text[i+1:], true
		case c != '\\' || i+1 == len(text):
			b.WriteByte(c)
		case quote == '\'':
			if text[i+1] == '\'' {
				i++
			}
			b.WriteByte(text[i])
		default:
			i++
			if n, err := strconv.ParseUint(text[i+1:min(i+3, len(text))], 16, 8); text[i] == 'x' && err == nil && i+2 < len(text) {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
			if at := strings.IndexByte("nrtba", text[i]); at >= 0 {
				b.WriteByte("\n\r\t\b\a"[at])
			} else {
				b.WriteByte(text[i])
			}
		}
	}
	return "", "", false
}
