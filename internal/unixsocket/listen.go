package unixsocket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// DefaultMode is the permission of a socket file that only the user of the process may connect to.
const DefaultMode fs.FileMode = 0o700

// MaxPath is the longest path of a socket in bytes, the smallest limit of the systems that Go knows.
const MaxPath = 103

// Errors of [Listen].
var (
	ErrInUse     = errors.New("another process listens on it")
	ErrNotSocket = errors.New("it exists and is not a socket; remove it, or use another path")
)

// CheckPath returns the reason why path cannot be that of a socket, nil if it can.
func CheckPath(path string) error {
	switch {
	case path == "":
		return errors.New("empty; name the file of the socket")
	case strings.ContainsRune(path, 0):
		return errors.New("holds a zero byte")
	case strings.HasPrefix(path, "@"):
		return errors.New("abstract sockets have no permissions; use the path of a file")
	case strings.HasPrefix(path, "~"):
		return errors.New("only a shell replaces ~; write the whole path")
	case len(path) > MaxPath:
		return fmt.Errorf("%d bytes long; the path of a socket has at most %d", len(path), MaxPath)
	}
	return nil
}

// Addr is the address of both ends of a connection through a socket file. It reads as in Redis:
// the path, and port 0.
type Addr struct{ Path string }

// Network returns "unix".
func (Addr) Network() string { return "unix" }

// String returns the path and port 0.
func (a Addr) String() string { return a.Path + ":0" }

// Conn is a connection through a socket file.
type Conn struct {
	*net.UnixConn
	addr Addr
}

// RemoteAddr returns the [Addr] of the socket.
func (c *Conn) RemoteAddr() net.Addr { return c.addr }

// LocalAddr returns the [Addr] of the socket.
func (c *Conn) LocalAddr() net.Addr { return c.addr }

// dialTimeout bounds the attempt to connect to a socket file that is already there.
const dialTimeout = 2 * time.Second

// lockTimeout is how long Listen waits for other processes that listen in the same directory. It goes on without the
// lock then.
const lockTimeout = 2 * time.Second

// Listen listens on path. The file has exactly the permission bits of mode, from its first moment
// on Linux. A file that a dead process left is replaced. The listener removes its file when it is
// closed, unless another process has replaced it.
func Listen(path string, mode fs.FileMode) (net.Listener, error) {
	if err := CheckPath(path); err != nil {
		return nil, fmt.Errorf("unix socket %q: %w", path, err)
	}
	// Two processes that find the same stale file must not remove each other's new one.
	defer lockDir(filepath.Dir(path), lockTimeout)()
	if err := removeStale(path); err != nil {
		return nil, fmt.Errorf("unix socket %s: %w", path, err)
	}
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error { return restrict(raw, mode) }}
	under, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	l := &listener{UnixListener: under.(*net.UnixListener), addr: Addr{path}}
	l.SetUnlinkOnClose(false) // it would also remove another process's file
	if err = os.Chmod(path, mode.Perm()); err == nil {
		l.file, err = os.Lstat(path)
	}
	if err != nil {
		_ = l.UnixListener.Close()
		_ = os.Remove(path)
		return nil, fmt.Errorf("unix socket: %w", err)
	}
	return l, nil
}

// Wrap returns a listener whose connections have an [Addr], around a listener that another process
// has opened and whose file that process owns.
func Wrap(under *net.UnixListener) net.Listener {
	return &listener{UnixListener: under, addr: Addr{under.Addr().String()}}
}

// removeStale removes the socket file of a process that is gone.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return ErrNotSocket
	}
	conn, err := net.DialTimeout("unix", path, dialTimeout)
	switch {
	case err == nil:
		_ = conn.Close()
		return ErrInUse
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	case errors.Is(err, fs.ErrNotExist):
		return nil // removed meanwhile
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, os.ErrDeadlineExceeded):
		return ErrInUse // its queue of new connections is full
	}
	return fmt.Errorf("it exists, and the attempt to connect failed: %w", err)
}

type listener struct {
	*net.UnixListener
	addr Addr
	file fs.FileInfo // of the socket file; nil if another process owns it
	once sync.Once
}

// Addr returns the [Addr] of the socket.
func (l *listener) Addr() net.Addr { return l.addr }

// Accept waits for the next client.
func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.AcceptUnix()
	if err != nil {
		return nil, err
	}
	return &Conn{conn, l.addr}, nil
}

// Close stops listening and removes the socket file.
func (l *listener) Close() error {
	l.once.Do(func() {
		if l.file == nil {
			return
		}
		// No other Listen replaces the file while this one listens: the lock matters only if the file was removed.
		defer lockDir(filepath.Dir(l.addr.Path), 0)()
		if now, err := os.Lstat(l.addr.Path); err == nil && os.SameFile(now, l.file) {
			_ = os.Remove(l.addr.Path)
		}
	})
	return l.UnixListener.Close()
}
