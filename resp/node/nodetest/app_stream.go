package nodetest

import (
	"fmt"
	"slices"
	"strings"
)

// Some keys hold streams. What such a key holds is written as IDs and values by turns, with
// commas between them: an entry has one field, which is not written. A stream without an entry
// is as good as none.
const (
	// streamMark ends the keys of streams.
	streamMark = ">"
	// readStream is the command that reads all of one.
	readStream = "XRANGE"
	// streamField is the field of all entries.
	streamField = "f"
	// longestStream is from how many entries on a stream is trimmed.
	longestStream = 40
)

func isStream(key string) bool { return strings.HasSuffix(key, streamMark) }

// streamState is what a reply with all entries says: each is its ID, the field and the value.
func streamState(reply string) string {
	words := strings.Split(reply, ",")
	if len(words)%3 != 0 {
		return reply
	}
	var state []string
	for i := 0; i < len(words); i += 3 {
		state = append(state, words[i], words[i+2])
	}
	return strings.Join(state, ",")
}

// stepStream sends a random command to a stream. IDs are made up here, each once, so that one
// that was perhaps added is not added again.
func (w *AppWorker) stepStream(key, value string, read func(want string, args ...string) error, write func(next, want string, args ...string) error) error {
	all := listOf(w.states[key][0])
	n := len(all) / 2
	state := func(all []string) string { return strings.Join(all, ",") }
	add := func(from int, options ...string) error {
		w.ids++
		id := fmt.Sprintf("%d-%d", w.ids/3+1, w.ids%3)
		args := append(append([]string{"XADD", key}, options...), id, streamField, value)
		return write(state(append(slices.Clone(all[2*from:]), id, value)), id, args...)
	}
	switch w.rnd.IntN(10) {
	case 0, 1, 2, 3:
		return add(0)
	case 4:
		if n > longestStream {
			return add(n-2, "MAXLEN", "3")
		}
		return add(0, "MAXLEN", fmt.Sprint(n+1))
	case 5:
		if n > 1 {
			i := w.rnd.IntN(n)
			return write(state(slices.Delete(slices.Clone(all), 2*i, 2*i+2)), "1", "XDEL", key, all[2*i])
		}
	case 6:
		if n > 3 && w.rnd.IntN(4) == 0 {
			i := 1 + w.rnd.IntN(n-1)
			return write(state(all[2*i:]), fmt.Sprint(i), "XTRIM", key, "MINID", all[2*i])
		}
	case 7:
		return read(fmt.Sprint(n), "XLEN", key)
	}
	return read(state(all), readStream, key, "-", "+")
}
