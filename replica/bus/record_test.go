package bus

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"
)

// A wire is a net.Conn whose reads and writes go to what it is given.
type wire struct {
	net.Conn
	in  io.Reader
	out io.Writer
}

func (w wire) Read(p []byte) (int, error)  { return w.in.Read(p) }
func (w wire) Write(p []byte) (int, error) { return w.out.Write(p) }

var (
	oneKey   = bytes.Repeat([]byte{1}, 32)
	otherKey = bytes.Repeat([]byte{2}, 32)
)

// sealedBytes is what a connection sends for some writes.
func sealedBytes(t testing.TB, writes ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	c, err := newSealedConn(wire{out: &out}, oneKey, otherKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range writes {
		if n, err := c.Write(w); n != len(w) || err != nil {
			t.Fatal(n, err)
		}
	}
	return out.Bytes()
}

func openBytes(t testing.TB, sealed io.Reader) *sealedConn {
	t.Helper()
	c, err := newSealedConn(wire{in: sealed}, otherKey, oneKey)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRecordsSurviveAnyCutting(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		var want []byte
		var writes [][]byte
		for range r.IntN(8) {
			w := make([]byte, r.IntN(1<<r.IntN(19)))
			for i := range w {
				w[i] = byte(r.Uint32())
			}
			writes, want = append(writes, w), append(want, w...)
		}
		c := openBytes(t, &choppy{r: r, data: sealedBytes(t, writes...)})
		got, err := io.ReadAll(c)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes in %d writes: got %d, %v", len(want), len(writes), len(got), err)
		}
	}
}

// choppy reads as the network may deliver: a few bytes, sometimes a time-out.
type choppy struct {
	r    *rand.Rand
	data []byte
}

func (c *choppy) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.data[:min(len(c.data), 1+c.r.IntN(1<<c.r.IntN(18)))])
	c.data = c.data[n:]
	return n, nil
}

func TestTamperedRecordsAreNotRead(t *testing.T) {
	sealed := sealedBytes(t, []byte("first"), []byte("second"), []byte("third"))
	first := recordHead + len("first") + recordTag
	second := first + recordHead + len("second") + recordTag
	flip := func(at int) []byte {
		b := bytes.Clone(sealed)
		b[at] ^= 1
		return b
	}
	tests := map[string]struct {
		data []byte
		want string
	}{
		"changed text":    {flip(first + recordHead), "first"},
		"changed tag":     {flip(second - 1), "first"},
		"changed length":  {flip(first + 3), "first"},
		"huge length":     {flip(first), "first"},
		"dropped record":  {append(bytes.Clone(sealed[:first]), sealed[second:]...), "first"},
		"repeated record": {append(bytes.Clone(sealed[:first]), sealed...), "first"},
		"swapped records": {append(bytes.Clone(sealed[first:second]), sealed[:first]...), ""},
		"own direction":   {nil, ""},
		"empty record":    {sealedEmpty(t), ""},
		"cut":             {sealed[:second-1], "first"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := openBytes(t, bytes.NewReader(test.data))
			if name == "own direction" {
				own, err := newSealedConn(wire{in: bytes.NewReader(sealed)}, oneKey, otherKey)
				if err != nil {
					t.Fatal(err)
				}
				c = own
			}
			got, err := io.ReadAll(c)
			if string(got) != test.want {
				t.Errorf("read %q, want %q", got, test.want)
			}
			want := ErrTampered
			if name == "cut" {
				want = io.ErrUnexpectedEOF
			}
			// A shorter length than is true leaves a rest that ends too early.
			if !errors.Is(err, want) && !(name == "changed length" && errors.Is(err, io.ErrUnexpectedEOF)) {
				t.Errorf("error %v, want %v", err, want)
			}
		})
	}
}

// sealedEmpty is a record of nothing, rightly sealed: it would let a peer that has
// the key keep a reader busy for ever.
func sealedEmpty(t testing.TB) []byte {
	var out bytes.Buffer
	c, err := newSealedConn(wire{out: &out}, oneKey, otherKey)
	if err != nil {
		t.Fatal(err)
	}
	c.seal(nil)
	return c.out
}

func TestDeadlineLeavesTheReaderUsable(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	c, err := newSealedConn(far, otherKey, oneKey)
	if err != nil {
		t.Fatal(err)
	}
	sealed := sealedBytes(t, []byte("in two parts"))
	half := make(chan struct{})
	go func() {
		_, _ = near.Write(sealed[:9])
		close(half)
		_, _ = near.Write(sealed[9:])
	}()
	buf := make([]byte, 100)
	go func() {
		<-half
		_ = far.SetReadDeadline(time.Unix(1, 0))
	}()
	// The first part may or may not come with the rest before the deadline does.
	n, err := c.Read(buf)
	if err != nil {
		if !isTimeout(err) {
			t.Fatal(err)
		}
		_ = far.SetReadDeadline(time.Time{})
		n, err = c.Read(buf)
		for err != nil && isTimeout(err) {
			_ = far.SetReadDeadline(time.Time{})
			n, err = c.Read(buf)
		}
	}
	if err != nil || string(buf[:n]) != "in two parts" {
		t.Errorf("got %q, %v", buf[:n], err)
	}
}

// FuzzRecords feeds a sealed connection anything: it must neither panic nor return
// what was not sealed.
func FuzzRecords(f *testing.F) {
	f.Add([]byte{}, 0, byte(0))
	f.Add([]byte("garbage"), 3, byte(1))
	f.Add([]byte{0, 0, 0, 17, 1, 2, 3}, 30, byte(255))
	text := []byte("what was said")
	f.Fuzz(func(t *testing.T, more []byte, at int, change byte) {
		sealed := append(sealedBytes(t, text), more...)
		whole := len(sealed) - len(more)
		intact := change == 0
		if !intact && at >= 0 {
			sealed[at%whole] ^= change
		} else {
			intact = true
		}
		got, err := io.ReadAll(openBytes(t, bytes.NewReader(sealed)))
		switch {
		case intact && !bytes.Equal(got, text):
			t.Errorf("read %q of an intact record", got)
		case !intact && len(got) > 0:
			t.Errorf("read %q of a changed record", got)
		case len(more) > 0 && err == nil:
			t.Error("garbage went unnoticed")
		}
	})
}
