package pubsub

import (
	"maps"
	"slices"

	"github.com/ringside-kv/ringside/resp/wire"
)

// WithNames returns names with those in the replies of other nodes: each once and in order, if there are replies.
func WithNames(names []string, replies [][]byte) []string {
	if len(replies) == 0 {
		return names
	}
	set := make(map[string]struct{}, len(names))
	for _, name := range names {
		set[name] = struct{}{}
	}
	for _, reply := range replies {
		body, ok := wire.ArrayBody(reply)
		if !ok {
			continue
		}
		for range wire.ArrayLen(reply) {
			name, ok := wire.ReplyText(body)
			if !ok {
				break
			}
			set[string(name)] = struct{}{}
			body = body[wire.ValueLen(body):]
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// AddCounts adds the counts in the replies of other nodes, in which each follows its name.
func AddCounts(counts []int64, replies [][]byte) {
	for _, reply := range replies {
		body, ok := wire.ArrayBody(reply)
		if !ok || wire.ArrayLen(reply) != 2*len(counts) {
			continue
		}
		for i := range counts {
			body = body[wire.ValueLen(body):]
			n := wire.ValueLen(body)
			count, _ := wire.ReplyInt(body[:n])
			counts[i] += count
			body = body[n:]
		}
	}
}
