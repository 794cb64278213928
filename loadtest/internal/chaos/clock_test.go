package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// The machine's clock is nobody's to set, and time namespaces do not move the clock on the
// wall. So the nodes are built with a runtime whose time.Now adds an offset, which a file
// says; the monotonic clock stays as it is, as when an administrator sets a clock. All else
// of the binary is the real one.

const (
	clockEnv = "CHAOS_CLOCK"
	clockAsm = "time_linux_amd64.s"
	clockGo  = "timeasm.go"

	realNow = "TEXT time·now<ABIInternal>(SB)"
	hidden  = "TEXT ·chaosNow<ABIInternal>(SB)"
)

// clockRuntime takes the place of the runtime's declaration of time.now.
const clockRuntime = `package runtime

import (
	"internal/runtime/atomic"
	_ "unsafe"
)

// chaosNow is the time.now of the runtime.
func chaosNow() (sec int64, nsec int32, mono int64)

//go:linkname chaosOffset
var chaosOffset int64 // in nanoseconds

//go:linkname time_now time.now
func time_now() (sec int64, nsec int32, mono int64) {
	sec, nsec, mono = chaosNow()
	if by := atomic.Loadint64(&chaosOffset); by != 0 {
		all := sec*1e9 + int64(nsec) + by
		sec, nsec = all/1e9, int32(all%1e9)
	}
	return sec, nsec, mono
}
`

// clockMain is one more file of cmd/ringside.
const clockMain = `package main

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	_ "unsafe"
)

//go:linkname chaosOffset runtime.chaosOffset
var chaosOffset int64

func init() {
	path := os.Getenv("` + clockEnv + `")
	if path == "" {
		return
	}
	read := func() {
		text, _ := os.ReadFile(path)
		if by, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			atomic.StoreInt64(&chaosOffset, by)
		}
	}
	read()
	go func() {
		for {
			time.Sleep(20 * time.Millisecond)
			read()
		}
	}()
}
`

// steppable reports whether a binary was made by buildSteppable.
func steppable(binary string) bool {
	text, err := os.ReadFile(binary)
	return err == nil && bytes.Contains(text, []byte(clockEnv))
}

// buildSteppable compiles the binary of this module so that its clock can be set.
func buildSteppable(ctx context.Context, dir string) (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("that is made for linux/amd64, not for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	ask := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "go", args...).Output()
		return strings.TrimSpace(string(out)), err
	}
	root, err := ask("env", "GOROOT")
	if err != nil {
		return "", err
	}
	command, err := ask("list", "-f", "{{.Dir}}", cluster.BinaryPackage)
	if err != nil {
		return "", err
	}
	library := filepath.Join(root, "src", "runtime")
	asm, err := os.ReadFile(filepath.Join(library, clockAsm))
	if err != nil {
		return "", err
	}
	if strings.Count(string(asm), realNow) != 1 {
		return "", fmt.Errorf("the runtime of %s reads its clock in another way", runtime.Version())
	}
	replace := map[string]string{}
	for path, text := range map[string]string{
		filepath.Join(library, clockAsm):         strings.Replace(string(asm), realNow, hidden, 1),
		filepath.Join(library, clockGo):          clockRuntime,
		filepath.Join(command, "chaos_clock.go"): clockMain,
	} {
		own := filepath.Join(dir, "overlay-"+filepath.Base(path))
		if err := os.WriteFile(own, []byte(text), 0o644); err != nil {
			return "", err
		}
		replace[path] = own
	}
	overlay := filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, text, 0o644); err != nil {
		return "", err
	}
	return cluster.Build(ctx, dir, "-overlay", overlay)
}

// clockFile says by how much a node's clock is off. It does not lie on the node's disk.
func (c *testCluster) clockFile(n *node) string { return filepath.Join(c.o.Dir, n.id+".clock") }

// setClock makes a node's clock be off.
func (c *testCluster) setClock(n *node, by time.Duration) error {
	path := c.clockFile(n)
	if err := os.WriteFile(path+".new", []byte(strconv.FormatInt(int64(by), 10)), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// steps are by how much a clock is set.
var steps = []time.Duration{
	200 * time.Millisecond, 700 * time.Millisecond, 3 * time.Second, time.Minute, time.Hour, 30 * 24 * time.Hour,
}
