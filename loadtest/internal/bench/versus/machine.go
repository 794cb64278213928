package main

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ringside-kv/ringside/loadtest"
)

// A machine is where the figures come from. What is not known is empty.
type machine struct {
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	Memory     int64  `json:"memory"` // bytes
	Kernel     string `json:"kernel"`
	FileSystem string `json:"file_system"` // of the servers' data
	Go         string `json:"go"`
	Redis      string `json:"redis"`
}

func describeMachine(ctx context.Context, dir, redisServer string) machine {
	of := loadtest.Machine()
	m := machine{CPU: cmp.Or(of.CPU, of.Arch), Cores: of.Cores, Memory: of.MemoryBytes,
		Kernel: strings.TrimSpace(of.OS + " " + of.Kernel), Go: of.Go}
	if text, err := os.ReadFile("/proc/mounts"); err == nil {
		if path, err := filepath.EvalSymlinks(dir); err == nil {
			m.FileSystem = fileSystem(string(text), path)
		}
	}
	if redisServer != "" {
		if out, err := exec.CommandContext(ctx, redisServer, "--version").Output(); err == nil {
			m.Redis = redisVersion(string(out))
		}
	}
	return m
}

// fileSystem returns the type of that mount which holds path.
func fileSystem(mounts, path string) string {
	var longest, found string
	for line := range strings.Lines(mounts) {
		fields := strings.Fields(line)
		if len(fields) < 3 || len(fields[1]) < len(longest) {
			continue
		}
		if at := strings.TrimSuffix(fields[1], "/") + "/"; strings.HasPrefix(path+"/", at) {
			longest, found = fields[1], fields[2]
		}
	}
	return found
}

var redisVersionWord = regexp.MustCompile(`\bv=(\S+)`)

func redisVersion(text string) string {
	if m := redisVersionWord.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return strings.TrimSpace(text)
}
