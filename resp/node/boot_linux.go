package node

import (
	"os"
	"strings"
)

// bootID is of the machine, from one start of it to the next; empty if it has none.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
