package loadtest

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// Machine describes the machine that this program runs on. What is not known is empty.
func Machine() result.Machine {
	m := result.Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: strings.TrimSpace(cpuid.CPU.BrandName), Cores: runtime.NumCPU(), Go: runtime.Version()}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(text))
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		_, rest, _ := strings.Cut(string(text), "MemTotal:")
		var kB int64
		if n, _ := fmt.Sscanf(rest, "%d kB", &kB); n == 1 {
			m.MemoryBytes = kB << 10
		}
	}
	return m
}
