package loadtest

import (
	"os"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"
	"github.com/pbnjay/memory"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// Machine describes the machine that this program runs on. What is not known is empty.
func Machine() result.Machine {
	m := result.Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: strings.TrimSpace(cpuid.CPU.BrandName), Cores: runtime.NumCPU(), Go: runtime.Version(),
		MemoryBytes: int64(memory.TotalMemory())}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(text))
	}
	return m
}
