package keyspace

import (
	"bytes"
	"strconv"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A Count is what a database holds in some ranges.
type Count struct {
	Keys, Expires int64 // keys, and those of them that have an expiry
	Bytes         int64 // of keys and values
	TimedHashes   int64 // hashes with fields that expire
}

// In counts what the databases below a number hold in spans of a store. It looks at no lease: the
// counts are statistics.
func In(st *store.Store, spans []ring.Range, databases int) []Count {
	all := make([]Count, databases)
	for _, span := range spans {
		loads, err := st.LoadByDatabase(span)
		if err != nil {
			continue
		}
		for n, load := range loads {
			if n < len(all) {
				all[n].Keys += load.Keys
				all[n].Expires += load.Expires
				all[n].Bytes += load.Bytes
				all[n].TimedHashes += max(load.TimedHashes, 0) // below 0 while they are counted anew
			}
		}
	}
	return all
}

// ByNumber returns counts of data as those of the databases below a number, which show the data.
func ByNumber(all []Count, databases int, policies *database.Policies) []Count {
	shown := make([]Count, databases)
	for n := range shown {
		if data := policies.Data(n); data < len(all) {
			shown[n] = all[data]
		}
	}
	return shown
}

// Reply writes counts for Sum. It ends with the last database that has keys. The hashes are in one element behind all
// others, separated by spaces: nodes of earlier versions read elements in threes, and pass over it.
func Reply(w *wire.Writer, all []Count) {
	for len(all) > 1 && all[len(all)-1].Keys == 0 {
		all = all[:len(all)-1]
	}
	w.Array(3*len(all) + 1)
	var hashes []byte
	for _, n := range all {
		w.Int(n.Keys)
		w.Int(n.Expires)
		w.Int(n.Bytes)
		hashes = append(strconv.AppendInt(hashes, n.TimedHashes, 10), ' ')
	}
	w.Bulk(hashes)
}

// Sum adds up what [Reply] has written at several nodes. Those of earlier versions do not tell of the hashes.
func Sum(replies [][]byte) (sum []Count) {
	for _, reply := range replies {
		body, _ := wire.ArrayBody(reply)
		next := func() int64 {
			n := wire.ValueLen(body)
			number, _ := wire.ReplyInt(body[:n])
			body = body[n:]
			return number
		}
		for i := range wire.ArrayLen(reply) / 3 {
			if i == len(sum) {
				sum = append(sum, Count{})
			}
			sum[i].Keys += next()
			sum[i].Expires += next()
			sum[i].Bytes += next()
		}
		hashes, _ := wire.ReplyText(body)
		for i, n := range bytes.Fields(hashes) {
			if n, ok := wire.ParseInt(n); ok && i < len(sum) {
				sum[i].TimedHashes += n
			}
		}
	}
	return sum
}
