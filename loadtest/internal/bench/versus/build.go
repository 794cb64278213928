package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
)

// buildRingside compiles the binary of this module into dir and returns its
// path.
func buildRingside(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "ringside")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	out, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary,
		"github.com/ringside-kv/ringside/cmd/ringside").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build cmd/ringside: %w\n%s", err, out)
	}
	return binary, nil
}
