package main

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
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
	keys   []int // where the digits of each number begin
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
	args := commandArgs(command, value)
	if args == nil {
		return nil, fmt.Errorf("no load for %s", command)
	}
	if recipeFor(command) != nil {
		value = "" // one for all, as with redis-benchmark
	}
	for range pipeline {
		b.add(value, args)
	}
	return b, nil
}

// commandArgs returns nil for a command that there is no load for.
func commandArgs(command, value string) []string {
	switch command {
	case "GET":
		return []string{"GET", keyPrefix + anyNumber}
	case "INCR":
		return []string{"INCR", counterPrefix + anyNumber}
	case "SET":
		return []string{"SET", keyPrefix + anyNumber, value}
	case "MSET":
		args := []string{"MSET"}
		for range msetKeys {
			args = append(args, keyPrefix+anyNumber, value)
		}
		return args
	}
	if r := recipeFor(command); r != nil {
		return r.with(value)
	}
	return nil
}

// add appends a command, in whose arguments numbers are to be put, and values for those
// that are equal to value, unless that is empty.
func (b *batch) add(value string, args []string) {
	b.wire = fmt.Appendf(b.wire, "*%d\r\n", len(args))
	for i, a := range args {
		b.wire = fmt.Appendf(b.wire, "$%d\r\n", len(a))
		if at := strings.Index(a, anyNumber); at >= 0 {
			b.keys = append(b.keys, len(b.wire)+at)
		} else if i > 0 && value != "" && a == value {
			b.values = append(b.values, len(b.wire))
		}
		b.wire = append(b.wire, a...)
		b.wire = append(b.wire, "\r\n"...)
	}
}

// setKey writes the i-th number.
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
