package backup

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Verbs of requests.
const (
	verbPrepare = "ping" // its name in earlier versions, which do nothing
	verbHold    = "hold"
	verbRelease = "release"
	verbRead    = "read"
	verbRenew   = "renew"
	verbGone    = "gone"
	verbStop    = "stop"
)

// A request is what a node asks another one. ID is the backup's.
type request struct {
	Verb   string `json:"verb"`
	ID     string `json:"id"`
	HoldMS int64  `json:"hold_ms,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	// Steps has a node prepare only when it knows of these steps, or of later ones.
	Steps uint64 `json:"steps,omitempty"`
}

// An answer is a line of JSON, behind which the bytes of a stream may follow.
type answer struct {
	Error string `json:"error,omitempty"`
	// Again: the fault passes, and another attempt may succeed.
	Again bool `json:"again,omitempty"`

	// Of hold. Swaps is how many swaps of databases the node knows of.
	Rows  []row  `json:"rows,omitempty"`
	Swaps uint64 `json:"swaps,omitempty"`
	// Of hold. Steps tells by which steps keys have moved within databases, so far as the node knows.
	Steps uint64 `json:"steps,omitempty"`
	// Of release: for how long commits waited, in microseconds, and about how much there is to read.
	HeldMicros int64 `json:"held_us,omitempty"`
	KeysAbout  int64 `json:"keys_about,omitempty"`
	BytesAbout int64 `json:"bytes_about,omitempty"`
	// Of read. Keys is how many keys the stream has, known at its end.
	Bytes int   `json:"bytes,omitempty"`
	End   bool  `json:"end,omitempty"`
	Keys  int64 `json:"keys,omitempty"`
}

// A row is a range that a node serves.
type row struct {
	Start uint32 `json:"start"`
	End   uint32 `json:"end"`
	Epoch uint64 `json:"epoch"`
}

func refuse(again bool, format string, args ...any) answer {
	return answer{Error: fmt.Sprintf(format, args...), Again: again}
}

func (a *answer) encode(data []byte) []byte {
	a.Bytes = len(data)
	text, err := json.Marshal(a)
	if err != nil {
		text = []byte(`{"error":"encode"}`)
	}
	return append(append(text, '\n'), data...)
}

// decode splits an answer, which comes from another node of the cluster.
func decode(message []byte) (a answer, data []byte, err error) {
	text, data, ok := bytes.Cut(message, []byte("\n"))
	if !ok {
		return a, nil, fmt.Errorf("an answer without an end")
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, nil, fmt.Errorf("an answer that cannot be read: %w", err)
	}
	if len(data) != a.Bytes {
		return a, nil, fmt.Errorf("an answer with %d bytes instead of %d", len(data), a.Bytes)
	}
	return a, data, nil
}
