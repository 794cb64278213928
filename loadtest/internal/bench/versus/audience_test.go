package main

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// fakeAudience is one listener of so many messages on 'news', and the server's end of it.
func fakeAudience(t *testing.T, messages int) (*audience, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = resptest.NewRequests(c).Next() // else closing resets
		}
		if err == nil {
			_, err = c.Write([]byte("*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n"))
		}
		if err != nil {
			t.Error(err)
		}
		far <- c
	}()
	a := new(audience)
	t.Cleanup(a.dismiss)
	of := fakeLoad(l.Addr().String(), "PUBLISH_50")
	of.requests = messages
	of.do = &command{Request: of.do.Request, Audience: 1}
	err = a.gather(t.Context(), &of)
	c := <-far
	t.Cleanup(func() { c.Close() })
	if err != nil {
		t.Fatal(err)
	}
	return a, c
}

func TestAudienceComparesMessages(t *testing.T) {
	l := fakeLoad("", "PUBLISH_50")
	message := "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$3\r\n" + l.value() + "\r\n"
	for _, tt := range []struct {
		name, sent string
		want       error
	}{
		{"all", strings.Repeat(message, 5000), nil},
		{"one too many", strings.Repeat(message, 5001), errOtherMessage},
		{"another one", strings.Repeat(message, 4999) + strings.Replace(message, l.value(), "???", 1), errOtherMessage},
	} {
		a, far := fakeAudience(t, 5000)
		if _, err := far.Write([]byte(tt.sent)); err != nil {
			t.Fatal(err)
		}
		far.Close()
		if err := a.await(); !errors.Is(err, tt.want) {
			t.Errorf("%s: the error is %v", tt.name, err)
		}
	}
}

func TestAudienceMissesMessages(t *testing.T) {
	a, far := fakeAudience(t, 2)
	if _, err := far.Write(a.message); err != nil {
		t.Fatal(err)
	}
	far.Close()
	if err := a.await(); err == nil {
		t.Error("one message of two is enough")
	}
}
