package admin

import (
	"testing"

	"github.com/ringside-kv/ringside/resp/internal/settings"
)

func TestHumanBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0B", 1023: "1023B", 1024: "1.00K", 1536: "1.50K", 1 << 20: "1.00M", 3 << 30: "3.00G", 1 << 40: "1.00T", 1 << 60: "1048576.00T",
	} {
		if got := humanBytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

type port struct {
	Source
	n int64
}

func (p port) Port() int64 { return p.n }

// The numbers of listeners are those of Redis 7.4: TCP, Unix sockets, TLS.
func TestInfoNamesListeners(t *testing.T) {
	for _, c := range []struct {
		port             int64
		bind, unix, cert string
		want             string
	}{
		{6379, "127.0.0.1", "", "", "listener0:name=tcp,bind=127.0.0.1,port=6379\r\n"},
		{6379, "::", "/run/s", "", "listener0:name=tcp,bind=::,port=6379\r\nlistener1:name=unix,bind=/run/s\r\n"},
		{6380, "10.0.0.1", "/run/s", "cert.pem", "listener1:name=unix,bind=/run/s\r\nlistener2:name=tls,bind=10.0.0.1,port=6380\r\n"},
		{0, "", "/run/s", "", "listener1:name=unix,bind=/run/s\r\n"},
		{6379, "", "", "", "listener0:name=tcp,port=6379\r\n"},
		{0, "", "", "cert.pem", ""},
	} {
		fixed := func(name, value string) settings.Param {
			return settings.Fixed(name, func() string { return value })
		}
		w := &Info{srv: &Server{Source: port{n: c.port}, Config: settings.Table{
			fixed("bind", c.bind), fixed("unixsocket", c.unix), fixed("tls-cert-file", c.cert),
		}}}
		if infoListeners(w); w.Text() != c.want {
			t.Errorf("%+v: %q", c, w.Text())
		}
	}
}
