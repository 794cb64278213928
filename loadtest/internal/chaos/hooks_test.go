package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// Some faults need a hook in the process: a clock that is set, a clock that stands still, a table
// whose entries are not applied. The product has no such hooks. So the nodes are built from sources
// that differ in a few lines, which go build -overlay puts in place: see hookEdits and hookFiles.
// Each node reads what its hooks do from a file of its own. All else of the binary is the real one.

// hooksEnv names the file that says what the hooks of a node do.
const hooksEnv = "CHAOS_HOOKS"

// hooks is what the hooks of a node do. The file that hooksEnv names holds it as JSON.
type hooks struct {
	// Offset is added to the clock on the wall, in nanoseconds. The monotonic clock stays as it
	// is, as when an administrator sets a clock.
	Offset time.Duration
	// Stand stops the clock that counts the leases of others, which the node compares with its
	// timers. The clock that counts its own lease keeps running: a process that is stopped or
	// starved cannot notice that this one has stopped, and nothing is promised there.
	Stand bool
	// Hang keeps the node from applying entries of the table.
	Hang bool
}

// A hookEdit changes one place in a file of the sources. The place occurs once.
type hookEdit struct {
	standard   bool // a file of the standard library
	path       string
	real, hook string
}

var hookEdits = []hookEdit{
	{true, "runtime/time_linux_amd64.s", "TEXT time·now<ABIInternal>(SB)", "TEXT ·chaosNow<ABIInternal>(SB)"},
	{false, "internal/machine/clock_linux.go", "func (b *bootClock) now() time.Duration {", "func (b *bootClock) chaosNow() time.Duration {"},
	{false, "replica/table/fsm.go", "\tdefer f.decided()\n", "\tdefer f.decided()\n\tchaosWait()\n"},
}

// A hookFile is a file of the sources that is added or replaced. It imports nothing but imports:
// what the runtime imports must not import the runtime.
type hookFile struct {
	standard   bool
	path, text string
	imports    []string
}

var hookFiles = []hookFile{
	{true, "runtime/timeasm.go", `package runtime

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
`, []string{"internal/runtime/atomic", "unsafe"}},
	{false, "internal/machine/chaos.go", `package machine

import (
	"sync/atomic"
	"time"
)

// chaosAt is the time at which the clock was stopped; 0 while it runs.
var chaosAt atomic.Int64

// ChaosStand stops the clock, or lets it run again.
func ChaosStand(on bool) {
	if !on {
		chaosAt.Store(0)
		return
	}
	chaosAt.CompareAndSwap(0, int64(new(bootClock).chaosNow()))
}

func (b *bootClock) now() time.Duration {
	if at := chaosAt.Load(); at != 0 {
		return time.Duration(at)
	}
	return b.chaosNow()
}
`, []string{"sync/atomic", "time"}},
	{false, "replica/table/chaos.go", `package table

import "sync/atomic"

// chaosHung is closed when entries are applied again; nil while they are.
var chaosHung atomic.Pointer[chan struct{}]

// ChaosHang keeps entries from being applied, or ends that.
func ChaosHang(on bool) {
	if on {
		until := make(chan struct{})
		chaosHung.CompareAndSwap(nil, &until)
	} else if until := chaosHung.Swap(nil); until != nil {
		close(*until)
	}
}

func chaosWait() {
	if until := chaosHung.Load(); until != nil {
		<-*until
	}
}
`, []string{"sync/atomic"}},
	{false, "cmd/ringside/chaos.go", `package main

import (
	"encoding/json"
	"os"
	"sync/atomic"
	"time"
	_ "unsafe"

	chaosclock "github.com/ringside-kv/ringside/internal/machine"
	chaostable "github.com/ringside-kv/ringside/replica/table"
)

//go:linkname chaosOffset runtime.chaosOffset
var chaosOffset int64

func init() {
	path := os.Getenv("` + hooksEnv + `")
	if path == "" {
		return
	}
	read := func() {
		var hooks struct {
			Offset      int64
			Stand, Hang bool
		}
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &hooks)
		}
		if err != nil {
			return // there is none as yet
		}
		atomic.StoreInt64(&chaosOffset, hooks.Offset)
		chaosclock.ChaosStand(hooks.Stand)
		chaostable.ChaosHang(hooks.Hang)
	}
	read()
	go func() {
		for {
			time.Sleep(20 * time.Millisecond)
			read()
		}
	}()
}
`, []string{
		"encoding/json", "github.com/ringside-kv/ringside/internal/machine", "github.com/ringside-kv/ringside/replica/table",
		"os", "sync/atomic", "time", "unsafe",
	}},
}

// hooked reports whether buildHooked made a binary.
func hooked(binary string) bool {
	text, err := os.ReadFile(binary)
	return err == nil && bytes.Contains(text, []byte(hooksEnv))
}

// apply returns the text of a file with the hook.
func (e hookEdit) apply(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if strings.Count(string(text), e.real) != 1 {
		return "", fmt.Errorf("%s has no place for a hook: it does not contain %q once", path, e.real)
	}
	return strings.Replace(string(text), e.real, e.hook, 1), nil
}

// hookSources returns the changed and added files by their paths, below the sources of the standard
// library and below the root of this module.
func hookSources(library, module string) (map[string]string, error) {
	under := func(standard bool, path string) string {
		if standard {
			return filepath.Join(library, path)
		}
		return filepath.Join(module, path)
	}
	files := map[string]string{}
	for _, e := range hookEdits {
		path := under(e.standard, e.path)
		text, err := e.apply(path)
		if err != nil {
			return nil, err
		}
		files[path] = text
	}
	for _, f := range hookFiles {
		files[under(f.standard, f.path)] = f.text
	}
	return files, nil
}

// sourceRoots returns the directories of the standard library and of this module.
func sourceRoots(ctx context.Context) (library, module string, err error) {
	ask := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "go", args...).Output()
		return strings.TrimSpace(string(out)), err
	}
	if library, err = ask("env", "GOROOT"); err != nil {
		return "", "", err
	}
	module, err = ask("list", "-f", "{{.Module.Dir}}", cluster.BinaryPackage)
	return filepath.Join(library, "src"), module, err
}

// buildHooked compiles the binary of this module with hooks.
func buildHooked(ctx context.Context, dir string) (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("hooks exist for linux/amd64, not for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	library, module, err := sourceRoots(ctx)
	if err != nil {
		return "", err
	}
	files, err := hookSources(library, module)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for i, path := range slices.Sorted(maps.Keys(files)) {
		own := filepath.Join(dir, fmt.Sprintf("overlay-%d-%s", i, filepath.Base(path)))
		if err := os.WriteFile(own, []byte(files[path]), 0o644); err != nil {
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

// hooksFile says what the hooks of a node do. It does not lie on the node's disk.
func (c *testCluster) hooksFile(n *node) string { return filepath.Join(c.o.Dir, n.id+".hooks") }

// hook changes what the hooks of a node do.
func (c *testCluster) hook(n *node, change func(*hooks)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(&n.hooks)
	text, err := json.Marshal(n.hooks)
	if err != nil {
		return err
	}
	path := c.hooksFile(n)
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// clockSteps are by how much a clock is set.
var clockSteps = []time.Duration{
	200 * time.Millisecond, 700 * time.Millisecond, 3 * time.Second, time.Minute, time.Hour, 30 * 24 * time.Hour,
}
