package hyperloglogs

import (
	"bytes"
	"errors"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/hyperloglog"
)

// The commands on strings that are sketches of sets.

const (
	msgNoSketch      = "WRONGTYPE Key is not a valid HyperLogLog string value."
	msgCorruptSketch = "INVALIDOBJ Corrupted HLL object detected"
)

// sketch reads the sketch at a key; with v, which does not exist if there is none. It has
// replied, and returns false, if the key holds anything else. The sketch is not the caller's
// to change.
func sketch(x *command.Call, key []byte) (s hyperloglog.Sketch, v store.Value, ok bool) {
	v, ok = x.GetString(key)
	if !ok || !v.Exists() {
		return s, v, ok
	}
	b := v.Inline
	if !v.Whole() { // longer than a sketch can be: its beginning tells which error this is
		var err error
		if b, err = x.Unit.ReadRange(key, v, 0, 64, nil); err != nil {
			x.Fail(err)
			return s, v, false
		}
	}
	s, err := hyperloglog.Parse(b, v.Size)
	if err != nil {
		failSketch(x, err)
	}
	return s, v, err == nil
}

// ownSketch is sketch for those who change it: the sketch is a copy, or a new one.
func ownSketch(x *command.Call, key []byte) (s hyperloglog.Sketch, v store.Value, ok bool) {
	s, v, ok = sketch(x, key)
	switch {
	case !ok:
	case !v.Exists():
		s = hyperloglog.New()
	default:
		s = s.Clone()
	}
	return s, v, ok
}

// failSketch replies with what is wrong with a sketch, or with the store.
func failSketch(x *command.Call, err error) {
	switch {
	case errors.Is(err, hyperloglog.ErrNone):
		x.Error(msgNoSketch)
	case errors.Is(err, hyperloglog.ErrCorrupt):
		x.Error(msgCorruptSketch)
	default:
		x.Fail(err)
	}
}

// putSketch makes a sketch the value of a key, with the expiry that it has.
func putSketch(x *command.Call, key []byte, v store.Value, s *hyperloglog.Sketch) error {
	return x.Unit.PutString(key, v, s.Bytes(), v.Expiry, true)
}

func sparseLimit(x *command.Call) int { return int(x.Limits.Sparse.Load()) }

func cmdPfadd(x *command.Call) {
	key := x.Args[1]
	s, v, ok := ownSketch(x, key)
	if !ok {
		return
	}
	changed := !v.Exists()
	for _, element := range x.Args[2:] {
		raised, err := s.Add(element, sparseLimit(x))
		if err != nil {
			failSketch(x, err)
			return
		}
		changed = changed || raised
	}
	if changed {
		s.Touch()
		if err := putSketch(x, key, v, &s); err != nil {
			x.Fail(err)
			return
		}
		x.Unit.Note(store.EventString, "pfadd", key)
	}
	x.Bool(changed)
}

// cmdPfcount does not write the estimate into the sketch, as Redis does: what reads does not
// write here.
func cmdPfcount(x *command.Call) {
	if len(x.Args) > 2 {
		if u, ok := unionOf(x, x.Args[1:]); ok {
			x.Int(int64(u.Estimate()))
		}
		return
	}
	s, v, ok := sketch(x, x.Args[1])
	if !ok {
		return
	}
	if !v.Exists() {
		x.Int(0)
		return
	}
	n, err := s.Estimate()
	if err != nil {
		failSketch(x, err)
		return
	}
	x.Int(int64(n))
}

// unionOf reads the sketches at keys. It has replied, and returns false, if one of them is
// none.
func unionOf(x *command.Call, keys [][]byte) (*hyperloglog.Union, bool) {
	u := new(hyperloglog.Union)
	for _, key := range keys {
		s, v, ok := sketch(x, key)
		if !ok {
			return nil, false
		}
		x.CountSource(key, &v)
		if !v.Exists() {
			continue
		}
		if err := u.Add(&s); err != nil {
			failSketch(x, err)
			return nil, false
		}
	}
	return u, true
}

func cmdPfmerge(x *command.Call) {
	u, ok := unionOf(x, x.Args[1:])
	if !ok {
		return
	}
	key := x.Args[1]
	s, v, ok := ownSketch(x, key)
	if !ok {
		return
	}
	err := u.Into(&s, sparseLimit(x))
	if err == nil {
		err = putSketch(x, key, v, &s)
	}
	if err != nil {
		failSketch(x, err)
		return
	}
	x.Unit.Note(store.EventString, "pfadd", key)
	x.OK()
}

func cmdPfdebug(x *command.Call) {
	key := x.Args[2]
	s, v, ok := ownSketch(x, key)
	if !ok {
		return
	}
	if !v.Exists() {
		x.Error("ERR The specified key does not exist")
		return
	}
	word := x.Args[1]
	run := (func(*command.Call, store.Value, *hyperloglog.Sketch))(nil)
	switch {
	case wire.EqualFold(word, "getreg"):
		run = pfdebugGetreg
	case wire.EqualFold(word, "decode"):
		run = pfdebugDecode
	case wire.EqualFold(word, "encoding"):
		run = pfdebugEncoding
	case wire.EqualFold(word, "todense"):
		run = pfdebugTodense
	default:
		x.Error("ERR Unknown PFDEBUG subcommand '" + string(command.Shown(word, 128)) + "'")
		return
	}
	if len(x.Args) != 3 {
		x.Error("ERR Wrong number of arguments for the '" + string(command.Shown(word, 128)) + "' subcommand")
		return
	}
	run(x, v, &s)
}

// toDense makes the sketch at args[2] dense. It reports whether it could, and it has replied
// if not.
func toDense(x *command.Call, v store.Value, s *hyperloglog.Sketch) bool {
	if s.Dense() {
		return true
	}
	err := s.MakeDense()
	if err == nil {
		err = putSketch(x, x.Args[2], v, s)
	}
	if err != nil {
		failSketch(x, err)
	}
	return err == nil
}

// pfdebugGetreg also makes the sketch dense, as in Redis.
func pfdebugGetreg(x *command.Call, v store.Value, s *hyperloglog.Sketch) {
	if !toDense(x, v, s) {
		return
	}
	counts, err := s.Counts()
	if err != nil {
		failSketch(x, err)
		return
	}
	x.Array(len(counts))
	for _, n := range counts {
		x.Int(int64(n))
	}
}

func pfdebugDecode(x *command.Call, _ store.Value, s *hyperloglog.Sketch) {
	if s.Dense() {
		x.Error("ERR HLL encoding is not sparse")
		return
	}
	x.BulkString(s.Parts())
}

func pfdebugEncoding(x *command.Call, _ store.Value, s *hyperloglog.Sketch) {
	if s.Dense() {
		x.Simple("dense")
	} else {
		x.Simple("sparse")
	}
}

func pfdebugTodense(x *command.Call, v store.Value, s *hyperloglog.Sketch) {
	was := s.Dense()
	if toDense(x, v, s) {
		x.Bool(!was)
	}
}

// cmdPfselftest has two forms of one sketch estimate a set of known size.
func cmdPfselftest(x *command.Call) {
	const elements = 10_000
	sparse, dense := hyperloglog.New(), hyperloglog.New()
	_ = dense.MakeDense()
	var element [2]byte
	for i := range elements {
		element = [2]byte{byte(i), byte(i >> 8)}
		_, err1 := sparse.Add(element[:], hyperloglog.MaxSize)
		_, err2 := dense.Add(element[:], hyperloglog.MaxSize)
		if err1 != nil || err2 != nil {
			x.Error("ERR a sketch cannot be added to")
			return
		}
	}
	sparse.Touch()
	dense.Touch()
	n, err1 := sparse.Estimate()
	same, err2 := dense.Estimate()
	wrong := err1 != nil || err2 != nil || n != same || n < elements*9/10 || n > elements*11/10
	counts1, _ := sparse.Counts()
	counts2, _ := dense.Counts()
	if wrong || !bytes.Equal(counts1, counts2) {
		x.Error("ERR a sketch's estimate is wrong")
		return
	}
	x.OK()
}
