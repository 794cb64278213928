package resp

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/ring"
)

// deadLink leads to a node that is gone: nothing gets there, or nothing comes back.
type deadLink struct {
	sent error         // what Send returns
	wait error         // what Wait returns
	asks chan struct{} // has a value for each batch
}

func (d deadLink) Way() Way { return d }

func (d deadLink) Send(_ []byte, _ int, _ Terms, _ time.Duration, arrived func()) error {
	d.asks <- struct{}{}
	if arrived != nil && d.sent == nil {
		arrived()
	}
	return d.sent
}

func (d deadLink) Wait() (Replies, error) { return Replies{}, d.wait }

// dying is two servers of which the first holds that the second, which is gone, has all.
func dying(t *testing.T, link deadLink, away bool) (r *routed, lead func(primary string)) {
	r = routedTest(t, 2)
	r.links["n1"] = Route{ID: "n1", Link: link, Away: away}
	return r, func(primary string) {
		p, err := ring.NewPlacement([]ring.Row{{Primary: primary}})
		if err != nil {
			t.Fatal(err)
		}
		r.place(0, p, nil)
	}
}

var errTest = errors.New("test")

func TestRequestsOfADeadPrimaryWaitForAnother(t *testing.T) {
	for name, c := range map[string]struct {
		link deadLink
		want []string // of SET and GET
	}{
		"nothing is sent":    {deadLink{sent: fmt.Errorf("%w: %w", ErrNotSent, errTest)}, []string{"+OK", "$v"}},
		"nothing comes back": {deadLink{wait: fmt.Errorf("%w: %w", ErrUnknownOutcome, errTest)}, []string{"-UNKNOWN The write may or may not have been made: outcome unknown: test", "_$"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.link.asks = make(chan struct{}, 1000)
			r, lead := dying(t, c.link, true)
			lead("n1")
			o := resptest.Dial(t, r.addrs[0], 2)
			if _, err := o.C.Write([]byte("SET a v\r\nGET a\r\n")); err != nil {
				t.Fatal(err)
			}
			for range 2 { // it has tried, and tried again
				<-c.link.asks
			}
			lead("n0")
			for i, want := range c.want {
				if v, err := o.Read(); err != nil || v.String() != want {
					t.Errorf("reply %d: %s, %v; want %s", i, v, err, want)
				}
			}
		})
	}
}

func TestForwardTimeoutEndsThePause(t *testing.T) {
	for _, away := range []bool{false, true} {
		link := deadLink{sent: ErrNotSent, asks: make(chan struct{}, 1000)}
		r, lead := dying(t, link, away)
		r.servers[0].settings.ForwardLimit.Store(int64(50 * time.Millisecond))
		lead("n1")
		want := "-" + msgUnreachable
		if away {
			want = "-" + msgAway
		}
		o := resptest.Dial(t, r.addrs[0], 2)
		start := time.Now()
		o.Want(want, "SET", "a", "v")
		o.Want(want, "GET", "a")
		if took := time.Since(start); took < 100*time.Millisecond {
			t.Errorf("both took %s", took)
		}
	}
}

// A pipeline waits as long as one request would.
func TestForwardTimeoutIsOfThePipeline(t *testing.T) {
	link := deadLink{sent: ErrNotSent, asks: make(chan struct{}, 10000)}
	r, lead := dying(t, link, true)
	r.servers[0].settings.ForwardLimit.Store(int64(100 * time.Millisecond))
	lead("n1")
	o := resptest.Dial(t, r.addrs[0], 2)
	var pipe []byte
	for range 100 {
		pipe = append(pipe, "GET a\r\n"...)
	}
	if _, err := o.C.Write(pipe); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if v, err := o.Read(); err != nil || v.String() != "-"+msgAway {
			t.Fatalf("reply %d: %s, %v", i, v, err)
		}
	}
	if n := len(link.asks); n > 50 { // one for the pipeline, and one for each pause of the first
		t.Errorf("it was sent %d times", n)
	}
}

func TestForwardTimeoutIsASetting(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Want("*($forward-timeout $10000)", "CONFIG", "GET", "forward-timeout")
	o.Want("+OK", "CONFIG", "SET", "forward-timeout", "250")
	if d := srv.forwardTimeout(); d != 250*time.Millisecond {
		t.Error(d)
	}
	for _, bad := range []string{"0", "-1", "3600001", "x"} {
		if v := o.Do("CONFIG", "SET", "forward-timeout", bad); v.Text[:3] != "ERR" {
			t.Errorf("%s: %s", bad, v)
		}
	}
	s := settings.Default()
	s.ForwardTimeout = 2 * time.Hour
	if s.Validate() == nil {
		t.Error("two hours are accepted")
	}
}
