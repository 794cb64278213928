package main

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
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
	// floorArg makes this program be the process.
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

func startFloor(parent string, keys, size int) (*floor, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, "bare")
	if err != nil {
		return nil, err
	}
	f := &floor{dir: dir, cmd: exec.Command(program, floorArg, dir, strconv.Itoa(keys), strconv.Itoa(size))}
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
