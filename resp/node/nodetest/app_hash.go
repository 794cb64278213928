package nodetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Some keys hold hashes. What such a key holds is written as fields and values in the order
// of the fields, with commas between them.
const (
	// hashMark ends the keys of hashes.
	hashMark = "#"
	// readHash is the command that reads all of one.
	readHash = "HGETALL"
	// fields is how many different ones a hash may have.
	fields = 40
)

func isHash(key string) bool { return strings.HasSuffix(key, hashMark) }

// hashOf reads what a key holds.
func hashOf(state string) map[string]string {
	m := make(map[string]string)
	if words := strings.Split(state, ","); state != "" && len(words)%2 == 0 {
		for i := 0; i < len(words); i += 2 {
			m[words[i]] = words[i+1]
		}
	}
	return m
}

// stateOf undoes hashOf.
func stateOf(m map[string]string) string {
	var words []string
	for _, field := range slices.Sorted(maps.Keys(m)) {
		words = append(words, field, m[field])
	}
	return strings.Join(words, ",")
}

// sortedHash is a reply with all of a hash, in order; what is none it leaves as it is.
func sortedHash(reply string) string {
	m := hashOf(reply)
	if 2*len(m) != strings.Count(reply, ",")+1 {
		return reply
	}
	return stateOf(m)
}

// stepHash sends a random command to a hash.
func (w *AppWorker) stepHash(key, value string, read func(want string, args ...string) error, write func(next, want string, args ...string) error) error {
	m := hashOf(w.states[key][0])
	field := fmt.Sprint("f", w.rnd.IntN(fields))
	_, has := m[field]
	count := func(yes bool) string {
		if yes {
			return "1"
		}
		return "0"
	}
	switch w.rnd.IntN(12) {
	case 0, 1, 2, 3, 4:
		m[field] = value
		return write(stateOf(m), count(!has), "HSET", key, field, value)
	case 5, 6:
		delete(m, field)
		return write(stateOf(m), count(has), "HDEL", key, field)
	case 7:
		if w.rnd.IntN(10) == 0 {
			return write("", count(len(m) > 0), "DEL", key)
		}
		fallthrough
	case 8:
		return read(fmt.Sprint(len(m)), "HLEN", key)
	case 9:
		return read(stateOf(m), readHash, key)
	}
	return read(m[field], "HGET", key, field)
}
