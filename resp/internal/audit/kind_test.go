package audit

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ringside-kv/ringside/resp/internal/command"
)

// TestOrderOf checks that the text of an order is bounded, is UTF-8, and names no users.
func TestOrderOf(t *testing.T) {
	long := strings.Repeat("é", 150)
	for _, test := range []struct{ name, args, want string }{
		{"ring|forget", "RING forget n7", "RING FORGET n7"},
		{"ring|pause", "ring pause", "RING PAUSE"},
		{"replicaof", "REPLICAOF host 6379", "REPLICAOF host 6379"},
		{"ring|user", "RING USER ada ATOMIC ON", "RING USER"},
		{"ring|forget", "RING FORGET \xff", "RING FORGET ?"},
		{"ring|strategy", "RING STRATEGY " + long + " x", "RING STRATEGY " + long[:186] + "…"},
		{"ring|recreate", "RING RECREATE" + strings.Repeat(" x", 1000), "RING RECREATE" + strings.Repeat(" x", 93) + " …"},
	} {
		got := OrderOf(&command.Row{Full: test.name}, bytes.Fields([]byte(test.args)))
		if got != test.want || !utf8.ValidString(got) {
			t.Errorf("%.80s: %q, want %q", test.args, got, test.want)
		}
	}
}
