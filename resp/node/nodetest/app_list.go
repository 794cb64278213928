package nodetest

import (
	"fmt"
	"slices"
	"strings"
)

// Some keys hold lists. What such a key holds is written as elements with commas between
// them.
const (
	// listMark ends the keys of lists.
	listMark = "@"
	// longestList is from how many elements on a list is cut.
	longestList = 60
)

func isList(key string) bool { return strings.HasSuffix(key, listMark) }

func listOf(state string) []string {
	if state == "" {
		return nil
	}
	return strings.Split(state, ",")
}

// stepList sends a random command to a list.
func (w *AppWorker) stepList(key, value string, read func(want string, args ...string) error, write func(next, want string, args ...string) error) error {
	all := listOf(w.states[key][0])
	n := len(all)
	state := func(all []string) string { return strings.Join(all, ",") }
	switch w.rnd.IntN(12) {
	case 0, 1, 2:
		return write(state(append(all, value)), fmt.Sprint(n+1), "RPUSH", key, value)
	case 3, 4:
		return write(state(slices.Insert(all, 0, value)), fmt.Sprint(n+1), "LPUSH", key, value)
	case 5:
		if n == 0 {
			return read("", "LINDEX", key, "0")
		}
		return write(state(all[1:]), all[0], "LPOP", key)
	case 6:
		if n == 0 {
			return read("", "LINDEX", key, "-1")
		}
		return write(state(all[:n-1]), all[n-1], "RPOP", key)
	case 7:
		if n > 2 {
			i := 1 + w.rnd.IntN(n-2)
			return write(state(slices.Insert(slices.Clone(all), i, value)), fmt.Sprint(n+1), "LINSERT", key, "BEFORE", all[i], value)
		}
	case 8:
		if n > longestList || n > 2 && w.rnd.IntN(10) == 0 {
			from := w.rnd.IntN(n / 2)
			return write(state(all[from:n-1]), "OK", "LTRIM", key, fmt.Sprint(from), "-2")
		}
	case 9:
		if n > 0 {
			i := w.rnd.IntN(n)
			return write(state(slices.Delete(slices.Clone(all), i, i+1)), "1", "LREM", key, "0", all[i])
		}
	case 10:
		if n > 0 {
			i := w.rnd.IntN(n)
			return read(all[i], "LINDEX", key, fmt.Sprint(i-n))
		}
	}
	return read(state(all), "LRANGE", key, "0", "-1")
}
