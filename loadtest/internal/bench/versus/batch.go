package main

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// A batch is a pipeline of equal requests as bytes, in which numbers and values are replaced in place.
type batch struct {
	wire    []byte
	numbers []int // where the digits of each number begin
	values  []int // where each value begins
	size    int   // of a value
}

// valuePool is the text of which every value is a piece. It is random, because a store that
// compresses would gain from values that repeat: Base64 of random bytes shrinks by a quarter at most.
var valuePool = func() []byte {
	rng := rand.NewChaCha8([32]byte{})
	raw := make([]byte, 1<<20)
	rng.Read(raw)
	return []byte(base64.RawStdEncoding.EncodeToString(raw))
}()

// value returns the text of messages, and of all values that redis-benchmark sends.
func (w *workload) value() string { return string(valuePool[:w.valueSize]) }

func newBatch(w *workload) *batch {
	b := &batch{size: w.valueSize}
	texts := expand(w.do.Request, valueMark, w.value())
	for range w.Pipeline {
		b.wire = fmt.Appendf(b.wire, "*%d\r\n", len(texts))
		for i, text := range texts {
			b.wire = fmt.Appendf(b.wire, "$%d\r\n", len(text))
			if at := strings.Index(text, anyNumber); at >= 0 {
				b.numbers = append(b.numbers, len(b.wire)+at)
			} else if w.do.Request[i] == valueMark && w.do.Audience == 0 { // an audience knows the message
				b.values = append(b.values, len(b.wire))
			}
			b.wire = fmt.Appendf(b.wire, "%s\r\n", text)
		}
	}
	return b
}

// setNumber writes the i-th number.
func (b *batch) setNumber(i, n int) {
	digits := b.wire[b.numbers[i] : b.numbers[i]+keyDigits]
	for d := len(digits) - 1; d >= 0; d-- {
		digits[d] = byte('0' + n%10)
		n /= 10
	}
}

// setValues gives every value another piece of the pool.
func (b *batch) setValues(rng *rand.Rand) {
	for _, at := range b.values {
		from := rng.IntN(len(valuePool) - b.size + 1)
		copy(b.wire[at:at+b.size], valuePool[from:])
	}
}
