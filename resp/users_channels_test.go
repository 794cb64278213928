package resp

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// Subscribers that lose the right to one of their channels are disconnected, as in Redis. Subscribers to what is still
// allowed, and connections of the user without subscriptions, stay.
func TestSubscribersOfLostChannelsAreDisconnected(t *testing.T) {
	_, addr := serveTest(t, nil)
	admin := resptest.Dial(t, addr, 2)
	for _, test := range []struct {
		before, after, subscribe string
		stays                    bool
	}{
		{"&*", "resetchannels", "SUBSCRIBE news", false},
		{"&*", "resetchannels", "PSUBSCRIBE n*", false},
		{"&*", "resetchannels", "SSUBSCRIBE news", false},
		{"&*", "resetchannels", "PING", true},
		{"&*", "resetchannels &news", "SUBSCRIBE news", true},
		{"&*", "resetchannels &news", "SUBSCRIBE news other", false},
		{"&*", "resetchannels &n*", "SUBSCRIBE news", true},
		{"&*", "resetchannels &n*", "PSUBSCRIBE n*", true},
		{"&*", "resetchannels &n*", "PSUBSCRIBE news*", false},
		{"&news", "resetchannels &news &more", "SUBSCRIBE news", true},
		{"&news", "resetchannels (&news +subscribe)", "SUBSCRIBE news", true},
		{"&*", "resetkeys -@all +ping", "SUBSCRIBE news", true},
		{"&*", "off", "SUBSCRIBE news", true},
	} {
		admin.Want("+OK", append([]string{"ACL", "SETUSER", "u", "reset", "on", ">pw", "~*", "+@all", "resetchannels"}, strings.Fields(test.before)...)...)
		listener := resptest.Dial(t, addr, 3)
		listener.Want("+OK", "AUTH", "u", "pw")
		words := strings.Fields(test.subscribe)
		listener.Do(words...)
		for range len(words) - 2 {
			listener.Next()
		}
		admin.Want("+OK", append([]string{"ACL", "SETUSER", "u"}, splitSelectors(test.after)...)...)
		listener.Send("PING")
		reply, err := listener.Read()
		if stays := err == nil && reply.Kind != '-' || err == nil && strings.HasPrefix(reply.Text, "NOPERM"); stays != test.stays {
			t.Errorf("%s then %s: a client with %s is answered %v, %v", test.before, test.after, test.subscribe, reply, err)
		}
	}
}

// splitSelectors splits rules at spaces, but not those within a selector.
func splitSelectors(rules string) (all []string) {
	for _, word := range strings.Fields(rules) {
		if n := len(all); n > 0 && strings.HasPrefix(all[n-1], "(") && !strings.HasSuffix(all[n-1], ")") {
			all[n-1] += " " + word
		} else {
			all = append(all, word)
		}
	}
	return all
}

// A subscriber that takes its own channels away gets the reply, and is closed then, as by Redis.
func TestSubscriberWithoutItsChannelsIsClosedAfterItsOwnOrder(t *testing.T) {
	_, addr := serveTest(t, nil)
	admin, o := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 3)
	admin.Want("+OK", "ACL", "SETUSER", "listener", "on", ">secret", "+@all", "resetchannels", "&news")
	o.Want("+OK", "AUTH", "listener", "secret")
	o.Want(">($subscribe $news :1)", "SUBSCRIBE", "news")
	o.Want("+OK", "ACL", "SETUSER", "listener", "on")
	o.Want("+OK", "ACL", "SETUSER", "listener", "resetchannels")
	if v, err := o.Read(); err == nil {
		t.Errorf("it reads %s", v)
	}
}
