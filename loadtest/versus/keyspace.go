package main

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
)

// Keys are those of redis-benchmark, so that either tool finds what the other
// has written.
const (
	keyPrefix     = "key:"
	counterPrefix = "counter:"
	keyDigits     = 12
)

// msetKeys is how many keys an MSET of redis-benchmark sets.
const msetKeys = 10

// A batch is a pipeline of equal commands as it goes over the wire, in which
// keys and values are replaced in place.
type batch struct {
	wire   []byte
	keys   []int // where the digits of each key begin
	values []int // where each value begins
	size   int   // of a value
	pool   []byte
}

// valuePool is text of which every value is a piece: random, since a store that
// compresses would gain from values that repeat. Base64 of random bytes shrinks
// by a quarter at most.
var valuePool = func() []byte {
	rng := rand.NewChaCha8([32]byte{})
	raw := make([]byte, 1<<20)
	rng.Read(raw)
	return []byte(base64.RawStdEncoding.EncodeToString(raw))
}()

func newBatch(command string, pipeline, valueSize int) (*batch, error) {
	b := &batch{size: valueSize, pool: valuePool}
	if valueSize > len(b.pool) {
		return nil, fmt.Errorf("values of %d bytes are too large", valueSize)
	}
	value := string(b.pool[:valueSize])
	zero := fmt.Sprintf("%0*d", keyDigits, 0)
	for range pipeline {
		switch command {
		case "GET":
			b.add(zero, "", "GET", keyPrefix+zero)
		case "INCR":
			b.add(zero, "", "INCR", counterPrefix+zero)
		case "SET":
			b.add(zero, value, "SET", keyPrefix+zero, value)
		case "MSET":
			args := []string{"MSET"}
			for range msetKeys {
				args = append(args, keyPrefix+zero, value)
			}
			b.add(zero, value, args...)
		default:
			return nil, fmt.Errorf("no load for %s", command)
		}
	}
	return b, nil
}

// add appends a command, whose keys are the arguments that end with zero and
// whose values are those equal to value.
func (b *batch) add(zero, value string, args ...string) {
	b.wire = fmt.Appendf(b.wire, "*%d\r\n", len(args))
	for i, a := range args {
		b.wire = fmt.Appendf(b.wire, "$%d\r\n", len(a))
		switch {
		case i > 0 && i%2 == 1:
			b.keys = append(b.keys, len(b.wire)+len(a)-len(zero))
		case i > 0 && value != "":
			b.values = append(b.values, len(b.wire))
		}
		b.wire = append(b.wire, a...)
		b.wire = append(b.wire, "\r\n"...)
	}
}

// setKey writes the number of the i-th key.
func (b *batch) setKey(i, n int) {
	digits := b.wire[b.keys[i] : b.keys[i]+keyDigits]
	for d := len(digits) - 1; d >= 0; d-- {
		digits[d] = byte('0' + n%10)
		n /= 10
	}
}

// setValues gives every value another piece of the pool.
func (b *batch) setValues(rng *rand.Rand) {
	for _, at := range b.values {
		from := rng.IntN(len(b.pool) - b.size + 1)
		copy(b.wire[at:at+b.size], b.pool[from:])
	}
}
