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
	"time"

	"github.com/ringside-kv/ringside/store/bare"
)

// A floor is a process that applies as many writes to a bare Pebble as clients send to a node: the
// least that a backup can cost.
type floor struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	dir    string

	mu         sync.Mutex
	want, done uint64 // writes
	told       time.Time
}

const (
	floorLead = 4096                   // writes that clients may be ahead of the process
	floorBeat = 500 * time.Microsecond // between two messages to the process, which cost time, too
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
	return f, nil
}

// add requests n more writes. It waits while the process is too far behind.
func (f *floor) add(n int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.want += uint64(n)
	if time.Since(f.told) < floorBeat {
		return nil
	}
	f.told = time.Now()
	return f.tell(floorLead)
}

// tell sends the number of writes to the process and waits until at most lead of them are not done.
func (f *floor) tell(lead uint64) error {
	_, err := f.stdin.Write(binary.LittleEndian.AppendUint64(nil, f.want))
	for err == nil && f.want-f.done > lead {
		var b [8]byte
		_, err = io.ReadFull(f.stdout, b[:])
		f.done = binary.LittleEndian.Uint64(b[:])
	}
	if err != nil {
		return fmt.Errorf("the bare Pebble ended: %w", err)
	}
	return nil
}

// stop waits until the process has done all writes and has ended. Clients must have stopped.
func (f *floor) stop() error {
	return errors.Join(f.tell(0), f.stdin.Close(), f.cmd.Wait(), os.RemoveAll(f.dir))
}
