package table

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// Bytes are a command or they are malformed, and what is read is written back alike
// from then on. Any command may be applied.
func FuzzDecode(f *testing.F) {
	x := &chaos{Rand: rand.New(rand.NewPCG(1, 2)), now: steps(f, new(State), found("n0", 4))}
	x.old = x.now
	for range 200 {
		c := x.command()
		f.Add(Encode(c))
		x.now, _ = x.now.Apply(x.now.Index()+1, c)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		command, err := Decode(data)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("%v is not ErrMalformed", err)
			}
			return
		}
		once := Encode(command)
		again, err := Decode(once)
		if err != nil {
			t.Fatalf("its own bytes: %v", err)
		}
		if !bytes.Equal(Encode(again), once) {
			t.Fatal("its own bytes are read as something else")
		}
		for _, s := range []*State{new(State), x.now} {
			next, err := s.Apply(s.Index()+1, command)
			if err != nil && (next != s || !IsRefused(err)) {
				t.Fatalf("%T: %v", command, err)
			}
			if err := next.Check(); err != nil {
				t.Fatalf("after %T: %v", command, err)
			}
		}
	})
}

// Bytes are a state that holds together, or they are refused.
func FuzzSnapshot(f *testing.F) {
	x := &chaos{Rand: rand.New(rand.NewPCG(3, 4)), now: steps(f, new(State), found("n0", 4))}
	x.old = x.now
	f.Add([]byte(mustBytes(f, new(State))))
	for i := range 400 {
		x.now, _ = x.now.Apply(x.now.Index()+1, x.command())
		if i%20 == 0 {
			f.Add([]byte(mustBytes(f, x.now)))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := new(State)
		if err := s.UnmarshalBinary(data); err != nil {
			if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrBroken) {
				t.Fatalf("%v is neither ErrMalformed nor ErrBroken", err)
			}
			if s.Founded() || s.Len() > 0 {
				t.Fatal("what was refused has left something behind")
			}
			return
		}
		s.Placement()
		once := mustBytes(t, s)
		again := new(State)
		if err := again.UnmarshalBinary([]byte(once)); err != nil {
			t.Fatalf("its own bytes: %v", err)
		}
		if mustBytes(t, again) != once {
			t.Fatal("its own bytes are read as something else")
		}
	})
}

// Whatever another node answers is an outcome, or an unknown one.
func FuzzReply(f *testing.F) {
	for _, err := range append([]error{nil, errNotProposed, ErrUnknownOutcome}, refusals...) {
		f.Add(reply(outcome{index: 300}, err))
	}
	f.Add(notProposed("n1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		done, leader, err := readReply(data)
		switch {
		case err == nil, IsRefused(err), errors.Is(err, ErrUnknownOutcome):
			if leader != "" {
				t.Fatalf("%+v, and yet ask %q", done, leader)
			}
		case !errors.Is(err, errNotProposed):
			t.Fatal(err)
		}
	})
}
