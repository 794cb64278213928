package bus

import (
	"bytes"
	"errors"
	"io"
	"net"
	"reflect"
	"testing"

	"github.com/ringside-kv/ringside/internal/certtest"
)

func FuzzHello(f *testing.F) {
	cfg := testConfig("a")
	cfg.EnsureDefaults()
	f.Add(cfg.helloBytes())
	cfg.Key = testKey
	h := cfg.hello(Raft, "b", true)
	f.Add(h.encode())
	h.ranged = false
	f.Add(h.encode())
	f.Add([]byte{})
	f.Add([]byte{0, 2, 9})
	f.Add([]byte{0, 4, 0, 5})
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := decodeHello(data, newestVersion)
		if err != nil {
			if !errors.Is(err, ErrProtocol) {
				t.Errorf("error without its kind: %v", err)
			}
			return
		}
		if h.id == "" || h.versions.Newest > newestVersion {
			return // it cannot be read, or only the beginning
		}
		if !bytes.Equal(h.encode(), data) {
			t.Error("another encoding than its own was taken")
		}
		again, err := decodeHello(h.encode(), newestVersion)
		if err != nil || !reflect.DeepEqual(again, h) {
			t.Errorf("%+v became %+v, %v", h, again, err)
		}
		compare(&h, &again)
	})
}

// FuzzConnection lets both sides of a handshake meet garbage, with and without a
// valid hello before it.
func FuzzConnection(f *testing.F) {
	peer := testConfig("z")
	peer.Key = testKey
	valid := appendFrame(nil, frameHello, peer.helloBytes())
	f.Add([]byte{}, false, false)
	f.Add([]byte("*1\r\n$4\r\nPING\r\n"), false, false)
	f.Add(appendFrame(nil, frameProof, make([]byte, 32)), true, true)
	f.Add(appendFrame(nil, frameRefusal, []byte("\x00\x01no\x00\xff")), false, true)
	f.Add(appendFrame(nil, frameRefusal, nil), true, true)
	f.Fuzz(func(t *testing.T, data []byte, withHello, keyed bool) {
		cfg := testConfig("a")
		if keyed {
			cfg.Key = testKey
		}
		cfg.EnsureDefaults()
		if withHello {
			data = append(bytes.Clone(valid), data...)
		}
		for _, dial := range []bool{true, false} {
			conn := wire{in: bytes.NewReader(data), out: io.Discard}
			var got net.Conn
			var err error
			if dial {
				got, _, err = dialHandshake(&cfg, conn, "", Stream, true)
			} else {
				got, _, err = acceptHandshake(&cfg, conn, func(Purpose) bool { return true })
			}
			if err == nil && keyed {
				t.Errorf("garbage proved the key: %v", got)
			}
		}
	})
}

// unowned is a connection that no bus has.
type unowned struct {
	wire
	dialled
}

// FuzzSecureConnection lets both sides of TLS meet garbage. None of it is a certificate.
func FuzzSecureConnection(f *testing.F) {
	f.Add([]byte{}, true, false)
	f.Add([]byte("\x16\x03\x01\x00\x05hello"), false, false)
	f.Add([]byte("\x16\x03\x01\xff\xff"), false, true)
	f.Add([]byte("\x15\x03\x03\x00\x02\x02\x2a"), true, true)
	f.Add(appendFrame(nil, frameRefusal, []byte("\x02\x00no")), true, true)
	peer := testConfig("z")
	f.Add(appendFrame(appendFrame(nil, frameHello, peer.helloBytes()), frameProof, nil), true, false)
	cluster := certtest.New(f, "cluster")
	own := testTLS(cluster.Pair(f, "a"), cluster)
	f.Fuzz(func(t *testing.T, data []byte, secured, isOptional bool) {
		cfg := testConfig("a")
		if secured {
			cfg.TLS = &TLS{Client: own.Client, Server: own.Server, Optional: isOptional}
		}
		cfg.EnsureDefaults()
		meet := func() dialledConn {
			return &unowned{wire: wire{in: bytes.NewReader(data), out: io.Discard}}
		}
		conn, err := acceptSecure(&cfg, meet())
		var peer Peer
		if err == nil {
			_, peer, err = acceptHandshake(&cfg, conn, func(Purpose) bool { return true })
		}
		if err == nil && (peer.Secure || secured && !isOptional) {
			t.Errorf("garbage has a certificate: %+v", peer)
		}
		if secured {
			if conn, err := dialSecure(&cfg, meet()); err == nil {
				t.Errorf("garbage has a certificate: %v", conn)
			}
		}
	})
}
