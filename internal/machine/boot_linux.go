package machine

import (
	"os"
	"strings"
)

// BootID is of the machine, from one start of it to the next; empty if it has none.
func BootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
