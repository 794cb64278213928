package client

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// A drifting clock reads at plus the time since the beginning, too fast or slow by some parts in
// a million.
type drifting struct {
	at  time.Duration
	ppm int64
}

func (d drifting) read(now time.Duration) time.Duration {
	return d.at + now + now/1_000_000*time.Duration(d.ppm)
}

// when is the first moment at which the clock reads so much.
func (d drifting) when(reads time.Duration) time.Duration {
	return time.Duration(float64(reads-d.at) / (1 + float64(d.ppm)/1e6))
}

// Whatever frames take to travel, and however clocks drift: the deadline that the peer is told
// has come, on its clock, when the deadline has come here.
func TestPeerClockDeadlineIsNeverLaterThanOwn(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	worst := time.Duration(0)
	for range 300 {
		clock := func() drifting {
			return drifting{time.Duration(rnd.Int64N(int64(1000 * time.Hour))), rnd.Int64N(201) - 100}
		}
		mine, theirs := clock(), clock()
		now := time.Duration(0)
		sample := func() (told, read time.Duration) {
			told = theirs.read(now)
			now += time.Duration(rnd.Int64N(int64(10*time.Second) >> rnd.IntN(30)))
			return told, mine.read(now)
		}
		p := newPeerClock(sample())
		for range 200 {
			now += time.Duration(rnd.Int64N(int64(time.Hour) >> rnd.IntN(30)))
			if rnd.IntN(2) == 0 {
				p.sample(sample())
			}
			left := time.Duration(rnd.Int64N(int64(5*time.Minute) >> rnd.IntN(20)))
			told := p.deadline(mine.read(now), left)
			end := mine.when(mine.read(now) + left)
			if late := told - theirs.read(end); late > time.Microsecond { // of rounding, in this test
				t.Fatalf("%v late: %+v, clocks %+v here, %+v there, after %v, %v left", late, p, mine, theirs, now, left)
			} else {
				worst = min(worst, late)
			}
		}
	}
	t.Logf("the earliest deadline came %v too early", -worst)
}

// Old samples count less and less, and a better one counts at once.
func TestPeerClockFollowsTheBestSample(t *testing.T) {
	p := newPeerClock(100*time.Second, 10*time.Second)
	for _, step := range []struct{ theirs, mine, want time.Duration }{
		{105 * time.Second, 20 * time.Second, 90*time.Second - 10*time.Millisecond}, // a frame that took 5 s
		{110*time.Second - time.Millisecond, 20 * time.Second, 90*time.Second - time.Millisecond},
		{1110 * time.Second, 1020 * time.Second, 90 * time.Second},
		{2105 * time.Second, 2020 * time.Second, 89 * time.Second},
		{3020 * time.Second, 3020 * time.Second, 88 * time.Second},
	} {
		if p.sample(step.theirs, step.mine); p.offset(step.mine) != step.want {
			t.Errorf("%v at %v: the offset is %v, want %v", step.theirs, step.mine, p.offset(step.mine), step.want)
		}
	}
}

// An owner whose process stands still finds the call late when it goes on, also if its clock is
// hours ahead or behind.
func TestCallThatLayInASocketArrivesAfterItsDeadline(t *testing.T) {
	for _, ahead := range []time.Duration{0, 5 * time.Hour, -5 * time.Hour} {
		fakenet.Bubble(t, func(t *testing.T) {
			clock := func() time.Duration { return monotonic() + ahead }
			seen := make(chan time.Duration, 1)
			f := newFarEnd(t, func(b *Batch) {
				seen <- b.Deadline - clock()
				echo(b)
			})
			f.cfg.Clock = clock
			stops := make(chan time.Duration, 1)
			p := newTestPeer(t, PeerConfig{Conns: 1, Dial: func(context.Context) (net.Conn, error) {
				near, far := net.Pipe()
				f.serve(&stoppedConn{far, stops})
				return near, nil
			}})
			c := Call{Commands: []byte("x"), N: 1, Timeout: 500 * time.Millisecond}
			for range 2 {
				_ = p.Send(&c)
				if err := c.Wait(); err != nil {
					t.Fatal(err)
				}
				if left := <-seen; left > c.Timeout || left < c.Timeout*99/100 {
					t.Errorf("%v ahead: %v are left of %v", ahead, left, c.Timeout)
				}
			}
			stops <- 1200 * time.Millisecond
			_ = p.Send(&c)
			if err := c.Wait(); !errors.Is(err, ErrTimeout) || !errors.Is(err, ErrUnknownOutcome) {
				t.Error(err)
			}
			if left := <-seen; left > -700*time.Millisecond {
				t.Errorf("%v ahead: %v are left after the stop", ahead, left)
			}
		})
	}
}

// A stoppedConn hands on what it has read only after a while, if it is told to.
type stoppedConn struct {
	net.Conn
	stops chan time.Duration
}

func (c *stoppedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	select {
	case d := <-c.stops:
		time.Sleep(d)
	default:
	}
	return n, err
}

// A connection that nothing travels on is told the time all the same, so that calls after a long
// silence have all of their time.
func TestIdlePeerHearsTheClock(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		seen := make(chan time.Duration, 1)
		f := newFarEnd(t, func(b *Batch) {
			seen <- b.Deadline - monotonic()
			echo(b)
		})
		p := newTestPeer(t, PeerConfig{Dial: f.pipe, Conns: 1})
		c := Call{Commands: []byte("x"), N: 1, Timeout: 500 * time.Millisecond}
		for range 2 {
			_ = p.Send(&c)
			if err := c.Wait(); err != nil {
				t.Fatal(err)
			}
			if left := <-seen; left > c.Timeout || left < c.Timeout-clockPeriod/maxDrift-time.Millisecond {
				t.Errorf("%v are left", left)
			}
			time.Sleep(time.Hour)
		}
	})
}

// A request that takes long to travel has its time from the end of its journey on, on both sides.
func TestDeadlineOfALargeCallIsPutOffWhileItTravels(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		seen := make(chan time.Duration, 1)
		f := newFarEnd(t, func(b *Batch) {
			seen <- b.Deadline - monotonic()
			echo(b)
		})
		p := newTestPeer(t, PeerConfig{Conns: 1, WriteTimeout: time.Minute, Dial: func(context.Context) (net.Conn, error) {
			near, far := net.Pipe()
			f.serve(&slowConn{far, 1 << 30})
			return near, nil
		}})
		c := Call{Commands: make([]byte, 3<<20), N: 1, Timeout: 10 * time.Second}
		_ = p.Send(&c)
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
		// What is left of it after the last piece of 256 KiB, at 64 KiB a second.
		if left := <-seen; left > c.Timeout || left < c.Timeout-6*time.Second {
			t.Errorf("%v are left", left)
		}
	})
}

func TestPeerRefusesMalformedClock(t *testing.T) {
	good := appendClock(nil)
	putClock(good, 1)
	short := binary.BigEndian.AppendUint32(nil, 1<<30)
	for name, first := range map[string][]byte{
		"a reply":           appendReply(nil, 0, nil, nil, make([]byte, 8)),
		"the end":           append(appendReplyHead(nil, 0, statusEnd, 0, 0), good...),
		"a large frame":     append(short, good...),
		"nothing":           nil,
		"half of the clock": good[:10],
	} {
		t.Run(name, func(t *testing.T) {
			fakenet.Bubble(t, func(t *testing.T) {
				p := newTestPeer(t, PeerConfig{Conns: 1, DialTimeout: 3 * time.Second, Dial: func(context.Context) (net.Conn, error) {
					near, far := net.Pipe()
					go func() { _, _ = far.Write(first) }()
					return near, nil
				}})
				c := Call{Commands: []byte("x"), N: 1, Timeout: time.Minute}
				_ = p.Send(&c)
				if err := c.Wait(); !errors.Is(err, ErrNotSent) {
					t.Error(err)
				}
				synctest.Wait()
			})
		})
	}
}
