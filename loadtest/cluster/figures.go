package cluster

import (
	"strconv"
	"strings"
)

// figures are names and values, as INFO tells them.
type figures map[string]string

func readFigures(text string) figures {
	f := make(figures)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			f[name] = value
		}
	}
	return f
}

// int is a number, 0 if there is none.
func (f figures) int(name string) int64 {
	n, _ := strconv.ParseInt(f[name], 10, 64)
	return n
}

func (f figures) float(name string) float64 {
	x, _ := strconv.ParseFloat(f[name], 64)
	return x
}
