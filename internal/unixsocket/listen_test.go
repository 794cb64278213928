package unixsocket

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestListenReplacesOnlyWhatIsStale(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	for _, test := range []struct {
		name    string
		prepare func(t *testing.T)
		want    error
	}{
		{"nothing there", func(*testing.T) {}, nil},
		{"stale socket", func(t *testing.T) {
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			_ = l.Close()
		}, nil},
		{"live socket", func(t *testing.T) {
			l, err := Listen(path, DefaultMode)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
		}, ErrInUse},
		{"regular file", func(t *testing.T) {
			if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Remove(path) })
		}, ErrNotSocket},
		{"directory", func(t *testing.T) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Remove(path) })
		}, ErrNotSocket},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.prepare(t)
			l, err := Listen(path, DefaultMode)
			if !errors.Is(err, test.want) {
				t.Fatalf("got %v, not %v", err, test.want)
			}
			if err != nil {
				if _, err := os.Lstat(path); err != nil {
					t.Errorf("what was there is gone: %v", err)
				}
				return
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the file stays after Close: %v", err)
			}
		})
	}
}

func TestListenSetsModeAndAddresses(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o700, 0o770, 0o777} {
		path := filepath.Join(t.TempDir(), "s")
		l, err := Listen(path, mode)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(path)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode %v, %v: want %v", info.Mode(), err, mode)
		}
		client, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		for _, addr := range []net.Addr{l.Addr(), server.RemoteAddr(), server.LocalAddr()} {
			if addr.Network() != "unix" || addr.String() != path+":0" {
				t.Errorf("address %s %q", addr.Network(), addr)
			}
		}
		_, _, _ = client.Close(), server.Close(), l.Close()
	}
}

func TestCloseKeepsTheFileOfAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	first, err := Listen(path, DefaultMode)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := Listen(path, DefaultMode)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	_ = first.Close()
	if _, err := net.Dial("unix", path); err != nil {
		t.Errorf("the second listener has lost its file: %v", err)
	}
}

func TestOneOfManyListenersWins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	stale, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = stale.Close()
	var all sync.WaitGroup
	var mu sync.Mutex
	var winners []net.Listener
	for range 8 {
		all.Go(func() {
			l, err := Listen(path, DefaultMode)
			if err != nil {
				if !errors.Is(err, ErrInUse) {
					t.Error(err)
				}
				return
			}
			mu.Lock()
			defer mu.Unlock()
			winners = append(winners, l)
		})
	}
	all.Wait()
	if len(winners) != 1 {
		t.Errorf("%d listeners on one path", len(winners))
	}
	for _, l := range winners {
		_ = l.Close()
	}
}

func TestCheckPath(t *testing.T) {
	for path, valid := range map[string]bool{
		"": false, "@abstract": false, "~/s": false, "a\x00b": false,
		"s": true, "/run/ringside/ringside.sock": true,
		strings.Repeat("a", MaxPath): true, strings.Repeat("a", MaxPath+1): false,
	} {
		if err := CheckPath(path); (err == nil) != valid {
			t.Errorf("%q: %v", path, err)
		}
	}
}
