package systemd

import (
	"fmt"
	"net"

	"github.com/coreos/go-systemd/v22/activation"

	"github.com/ringside-kv/ringside/internal/unixsocket"
)

// Sockets returns the listeners that systemd has opened for this process (LISTEN_FDS), none if there
// are none. It removes the variables that announce them, so a second call returns none.
func Sockets() ([]net.Listener, error) {
	var all []net.Listener
	fail := func(err error) ([]net.Listener, error) {
		for _, l := range all {
			_ = l.Close()
		}
		return nil, err
	}
	for _, f := range activation.Files(true) {
		l, err := net.FileListener(f) // a duplicate of f
		_ = f.Close()
		if err != nil {
			return fail(fmt.Errorf("socket %q of systemd is not one that accepts connections: use ListenStream: %w", f.Name(), err))
		}
		switch under := l.(type) {
		case *net.UnixListener:
			l = unixsocket.Wrap(under)
		case *net.TCPListener:
		default:
			_ = l.Close()
			return fail(fmt.Errorf("socket %q of systemd is of network %s: use a TCP or a Unix socket", f.Name(), l.Addr().Network()))
		}
		all = append(all, l)
	}
	return all, nil
}
