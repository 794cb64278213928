package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/store/bare"
)

// A floor is a process that writes to a bare Pebble as often as clients write to a node: it
// takes what a backup takes at least. Clients go no further ahead of it than floorLead.
type floor struct {
	cmd  *exec.Cmd
	told io.WriteCloser
	dir  string

	mu         sync.Mutex
	moved      *sync.Cond // done or failed has changed
	want, done uint64
	failed     error
	stopped    bool
	wait       sync.WaitGroup
}

const (
	floorLead = 4096 // writes
	floorBeat = 500 * time.Microsecond
	// floorArg has this program be the process.
	floorArg = "be-a-bare-pebble"
)

// beFloor is the process, if this is one.
func beFloor(args []string) (is bool, err error) {
	if len(args) != 4 || args[0] != floorArg {
		return false, nil
	}
	keys, err1 := strconv.Atoi(args[2])
	size, err2 := strconv.Atoi(args[3])
	if err := cmp.Or(err1, err2); err != nil {
		return true, err
	}
	db, err := bare.Open(args[1], keys, size)
	if err != nil {
		return true, err
	}
	return true, errors.Join(db.Serve(bufio.NewReader(os.Stdin), os.Stdout), db.Close())
}

func startFloor(ctx context.Context, o *backupsOptions) (*floor, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "bare")
	if err != nil {
		return nil, err
	}
	f := &floor{dir: dir, cmd: exec.CommandContext(ctx, program, floorArg, dir, strconv.Itoa(o.keys), strconv.Itoa(o.size))}
	f.moved = sync.NewCond(&f.mu)
	f.cmd.Stderr = os.Stderr
	f.told, err = f.cmd.StdinPipe()
	does, err2 := f.cmd.StdoutPipe()
	if err := cmp.Or(err, err2, f.cmd.Start()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	f.wait.Go(func() { f.hear(does) })
	f.wait.Go(f.tell)
	return f, nil
}

// hear notes how far the process is.
func (f *floor) hear(r io.Reader) {
	for {
		var b [8]byte
		_, err := io.ReadFull(r, b[:])
		f.mu.Lock()
		if err != nil {
			f.failed = fmt.Errorf("the bare Pebble ended: %w", err)
		} else {
			f.done = binary.LittleEndian.Uint64(b[:])
		}
		f.moved.Broadcast()
		f.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// tell says how much there is to do, now and then: telling takes time, too.
func (f *floor) tell() {
	last := uint64(0)
	for tick := time.NewTicker(floorBeat); ; <-tick.C {
		f.mu.Lock()
		want, stopped := f.want, f.stopped
		f.mu.Unlock()
		if want != last {
			last = want
			if _, err := f.told.Write(binary.LittleEndian.AppendUint64(nil, want)); err != nil {
				return // hear says so
			}
		}
		if stopped {
			_ = f.told.Close()
			tick.Stop()
			return
		}
	}
}

// add has n more writes done. It waits while the process is too far behind.
func (f *floor) add(n int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.want += uint64(n)
	for f.failed == nil && f.want-f.done > floorLead {
		f.moved.Wait()
	}
	return f.failed
}

// stop has the process finish and end.
func (f *floor) stop() error {
	f.mu.Lock()
	f.stopped = true
	f.mu.Unlock()
	f.wait.Wait()
	return errors.Join(f.cmd.Wait(), os.RemoveAll(f.dir))
}

// measureFloor measures the first node without a backup, and with such a process beside it.
func (p pair) measureFloor(ctx context.Context, o *backupsOptions, keys []string) (m measured, err error) {
	f, err := startFloor(ctx, o)
	if err != nil {
		return m, err
	}
	used := func() [3]time.Duration {
		return [3]time.Duration{p.first.CPU(), cluster.ProcessCPU(f.cmd.Process.Pid), cluster.ProcessCPU(os.Getpid())}
	}
	before := used()
	m, err = measureLoadBeside(ctx, o, p.first.Addr, keys, o.clients, o.pipeline, f)
	after := used()
	if err = errors.Join(err, f.stop()); err == nil {
		m.spend(before, after)
	}
	return m, err
}
