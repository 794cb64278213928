package settings

import (
	"fmt"
	"strconv"
	"strings"
)

// A configLine is a line of redis-config, which is written as redis.conf is: a name, a space, and the
// value, which may be in double quotes as Go has them.
type configLine struct {
	number      int
	name, value string
}

// configLines splits a text. Empty lines and comments are none.
func configLines(text string) []configLine {
	var lines []configLine
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, _ := strings.Cut(line, " ")
		value = strings.TrimSpace(value)
		if unquoted, err := strconv.Unquote(value); err == nil && value[0] == '"' {
			value = unquoted
		}
		lines = append(lines, configLine{number, name, value})
	}
	return lines
}

// text is the line again.
func (l configLine) text() string {
	quoted := strconv.Quote(l.value)
	if l.value != "" && l.value == strings.TrimSpace(l.value) && quoted[1:len(quoted)-1] == l.value {
		return l.name + " " + l.value
	}
	return l.name + " " + quoted
}

// CheckRedisConfig returns every fault of a text.
func CheckRedisConfig(text string) (faults []error) {
	if text == "" {
		return nil
	}
	t, seen := NewTable(new(Running)), map[string]int{}
	for _, line := range configLines(text) {
		fault := ""
		switch p := t.Find([]byte(line.name)); {
		case p == nil:
			fault = "no such parameter, or one with a setting of its own"
		case p.Flag != "":
			fault = "use the setting " + p.Flag
		case !p.Redis:
			fault = "not a parameter that CONFIG SET changes, or one with a setting of its own"
		case seen[p.Name] > 0:
			fault = fmt.Sprintf("is in line %d already", seen[p.Name])
		default:
			seen[p.Name] = line.number
			_, fault = p.Parse(line.value)
		}
		if fault != "" {
			faults = append(faults, fmt.Errorf("line %d: %s: %s", line.number, line.name, fault))
		}
	}
	return faults
}

// SetRedisConfig gives the parameters in next, which is valid, their values, and those that are in old only
// the standard ones.
func (t Table) SetRedisConfig(old, next string) {
	if old == next {
		return
	}
	lines := configLines(next)
	for _, line := range configLines(old) {
		if p := t.Find([]byte(line.name)); p != nil && p.Redis {
			lines = append([]configLine{{name: p.Name, value: p.standard()}}, lines...)
		}
	}
	for _, line := range lines {
		if p := t.Find([]byte(line.name)); p != nil && p.Redis {
			if apply, fault := p.Parse(line.value); fault == "" {
				apply()
			}
		}
	}
}

// RedisConfigName is the flag that has the parameters without a flag of their own.
const RedisConfigName = "redis-config"

// Values returns the values that a restart would lose, by the flags that keep them, as these take them.
func (t Table) Values() map[string]string {
	values, config := map[string]string{}, ""
	for i := range t {
		p := &t[i]
		switch {
		case p.alias:
		case p.Flag != "" && p.FlagText != nil:
			values[p.Flag] = p.FlagText()
		case p.Flag != "":
			values[p.Flag] = p.Get()
		case p.Redis && p.Get() != p.standard():
			config += configLine{name: p.Name, value: p.Get()}.text() + "\n"
		}
	}
	values[RedisConfigName] = config
	return values
}
