package client

import (
	"errors"
	"fmt"
	"strconv"
)

// Kind is what a Reply holds.
type Kind byte

const (
	// Failed: there is no reply; Err says why.
	Failed Kind = iota
	// Null is Redis' nil, of whatever type.
	Null
	// Error is an error that the server answers with.
	Error
	// Text is a string of any bytes.
	Text
	// Integer is a 64-bit integer.
	Integer
	// Float is a floating point number.
	Float
	// Boolean is true or false.
	Boolean
	// List is an array, a set or a push.
	List
	// Map is a map: its elements are keys and values in turn.
	Map
)

var kindNames = [...]string{"nothing", "null", "error", "text", "integer", "float", "boolean", "list", "map"}

// String is the kind's name.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

var (
	// ErrNull: the server answered with Redis' nil, such as GET for a key that does
	// not exist.
	ErrNull = errors.New("null")
	// ErrKind: the reply is not of the kind that was asked for.
	ErrKind = errors.New("reply of another kind")
)

// A Reply is the outcome of one command. Its zero value is that of a command that has
// not been sent. It shares no memory with the client and may be kept; what it returns
// of it must not be changed if it is used again.
type Reply struct {
	kind  Kind
	push  bool
	n     int64 // an integer, or 1 for true
	text  []byte
	elems []Reply
	err   error
}

func failed(err error) Reply { return Reply{err: err} }

// Kind tells what the reply holds.
func (r Reply) Kind() Kind { return r.kind }

// Err is nil if the server has answered and the answer is no error. An error of the
// server is a [*ServerError]; any other matches [ErrNotSent], [ErrUnknownOutcome], or
// [ErrClosed]. Null is no error here.
func (r Reply) Err() error {
	switch {
	case r.err != nil:
		return r.err
	case r.kind == Error:
		return newServerError(string(r.text))
	case r.kind == Failed:
		return errUnsent
	}
	return nil
}

// IsNull tells whether the server answered with Redis' nil.
func (r Reply) IsNull() bool { return r.kind == Null }

// want is nil if the reply is of the kind, and otherwise what the caller is told.
func (r Reply) want(kind Kind) error {
	switch {
	case r.kind == kind:
		return nil
	case r.kind == Null:
		return ErrNull
	}
	return r.mismatch(kind)
}

func (r Reply) mismatch(kind Kind) error {
	if err := r.Err(); err != nil {
		return err
	}
	return fmt.Errorf("%w: %v, not %v", ErrKind, r.kind, kind)
}

// Bytes returns a string, or a number as the server writes it. Null is [ErrNull].
func (r Reply) Bytes() ([]byte, error) {
	switch r.kind {
	case Text, Float:
		return r.text, nil
	case Integer:
		return strconv.AppendInt(nil, r.n, 10), nil
	}
	return nil, r.want(Text)
}

// Text is Bytes as a string.
func (r Reply) Text() (string, error) {
	b, err := r.Bytes()
	return string(b), err
}

// Int returns an integer, also one that came as a string. Null is [ErrNull].
func (r Reply) Int() (int64, error) {
	switch r.kind {
	case Integer, Boolean:
		return r.n, nil
	case Text:
		n, err := strconv.ParseInt(string(r.text), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%w: %w", ErrKind, err)
		}
		return n, nil
	}
	return 0, r.want(Integer)
}

// Float returns a number, also one that came as a string. Null is [ErrNull].
func (r Reply) Float() (float64, error) {
	switch r.kind {
	case Integer:
		return float64(r.n), nil
	case Text, Float:
		f, err := strconv.ParseFloat(string(r.text), 64)
		if err != nil {
			return 0, fmt.Errorf("%w: %w", ErrKind, err)
		}
		return f, nil
	}
	return 0, r.want(Float)
}

// Bool returns a boolean, or whether an integer is not 0. OK counts as true. Null is
// [ErrNull].
func (r Reply) Bool() (bool, error) {
	switch {
	case r.kind == Boolean || r.kind == Integer:
		return r.n != 0, nil
	case r.kind == Text && string(r.text) == "OK":
		return true, nil
	case r.kind == Text:
		return false, r.mismatch(Boolean)
	}
	return false, r.want(Boolean)
}

// List returns the elements of a list, or of a map as keys and values in turn. An
// element may itself be an error, so look at its Err. Null is [ErrNull].
func (r Reply) List() ([]Reply, error) {
	if r.kind == Map {
		return r.elems, nil
	}
	return r.elems, r.want(List)
}

// Texts returns a list of strings; a null in it is an empty one.
func (r Reply) Texts() ([]string, error) {
	elems, err := r.List()
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(elems))
	for i, e := range elems {
		if texts[i], err = e.Text(); err != nil && !errors.Is(err, ErrNull) {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return texts, nil
}

// Map returns a map, or a list of keys and values in turn, which is what a map is in
// RESP2. Null is [ErrNull].
func (r Reply) Map() (map[string]Reply, error) {
	if r.kind != Map && r.kind != List {
		return nil, r.want(Map)
	}
	if len(r.elems)%2 != 0 {
		return nil, fmt.Errorf("%w: %d elements are not pairs", ErrKind, len(r.elems))
	}
	m := make(map[string]Reply, len(r.elems)/2)
	for i := 0; i < len(r.elems); i += 2 {
		key, err := r.elems[i].Text()
		if err != nil {
			return nil, fmt.Errorf("key of a map: %w", err)
		}
		m[key] = r.elems[i+1]
	}
	return m, nil
}
