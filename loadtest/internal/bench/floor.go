package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/store/bare"
)

// A floor is a process that applies as many writes to a bare Pebble as clients send to a node: the
// least that a backup can cost. Clients are at most floorLead writes ahead of it.
type floor struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	dir    string

	want, done atomic.Uint64
	ending     atomic.Bool
	failed     atomic.Pointer[error]
	forwarding sync.WaitGroup
}

const (
	floorLead = 4096 // writes
	floorBeat = 500 * time.Microsecond
)

// floorFlags are those of the process, which is this program.
func floorFlags(f *flag.FlagSet) func(context.Context) error {
	dir := f.String("dir", "", "directory of the Pebble")
	keys := f.Int("keys", 0, "keys that are written")
	size := f.Int("size", 0, "bytes of a value")
	return func(context.Context) error {
		db, err := bare.Open(*dir, *keys, *size)
		if err != nil {
			return err
		}
		return errors.Join(db.Serve(bufio.NewReader(os.Stdin), os.Stdout), db.Close())
	}
}

func startFloor(parent string, keys, size int) (*floor, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, "bare")
	if err != nil {
		return nil, err
	}
	f := &floor{dir: dir, cmd: exec.Command(program, "floor", "--dir", dir, "--keys", strconv.Itoa(keys), "--size", strconv.Itoa(size))}
	f.cmd.Stderr = os.Stderr
	var err1, err2 error
	f.stdin, err1 = f.cmd.StdinPipe()
	f.stdout, err2 = f.cmd.StdoutPipe()
	if err := cmp.Or(err1, err2, f.cmd.Start()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	f.forwarding.Go(func() {
		if err := f.forward(); err != nil {
			err = fmt.Errorf("the bare Pebble ended: %w", err)
			f.failed.Store(&err)
		}
	})
	return f, nil
}

// forward sends the number of writes to the process, a batch every floorBeat, and waits until they are done.
func (f *floor) forward() error {
	defer f.stdin.Close()
	var b [8]byte
	for tick := time.Tick(floorBeat); !f.ending.Load() || f.done.Load() < f.want.Load(); <-tick {
		want := f.want.Load()
		if want == f.done.Load() {
			continue
		}
		binary.LittleEndian.PutUint64(b[:], want)
		if _, err := f.stdin.Write(b[:]); err != nil {
			return err
		}
		for f.done.Load() < want {
			if _, err := io.ReadFull(f.stdout, b[:]); err != nil {
				return err
			}
			f.done.Store(binary.LittleEndian.Uint64(b[:]))
		}
	}
	return nil
}

// add requests n more writes. It waits while the process is too far behind.
func (f *floor) add(n int) error {
	f.want.Add(uint64(n))
	for f.want.Load()-f.done.Load() > floorLead {
		if err := f.failed.Load(); err != nil {
			return *err
		}
		time.Sleep(floorBeat)
	}
	return nil
}

// stop waits until the process has done all writes and has ended.
func (f *floor) stop() error {
	f.ending.Store(true)
	f.forwarding.Wait()
	return errors.Join(f.cmd.Wait(), os.RemoveAll(f.dir))
}
