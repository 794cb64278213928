package rdb

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

const sampleWords = "the quick brown fox jumps over a lazy dog while seven wizards make toxic brew for the evil queen and jack "

// sampleKinds make random values of up to about n bytes, each of another sort.
var sampleKinds = []struct {
	name string
	gen  func(r *rand.Rand, n int) []byte
}{
	{"random", func(r *rand.Rand, n int) []byte { return randomOver(r, n, 256) }},
	{"few letters", func(r *rand.Rand, n int) []byte { return randomOver(r, n, 1+r.IntN(6)) }},
	{"runs", func(r *rand.Rand, n int) []byte {
		var b []byte
		for len(b) < n {
			run := 1 + r.IntN(1+r.IntN(600))
			b = append(b, strings.Repeat(string(rune('a'+r.IntN(4))), run)...)
		}
		return b[:n]
	}},
	{"words", func(r *rand.Rand, n int) []byte {
		words := strings.Fields(sampleWords)
		var b []byte
		for len(b) < n {
			b = append(append(b, words[r.IntN(len(words))]...), ' ')
		}
		return b[:n]
	}},
	{"records", func(r *rand.Rand, n int) []byte {
		var b []byte
		for len(b) < n {
			b = append(b, `{"id":`+strconv.Itoa(r.IntN(100000))+`,"name":"user`+strconv.Itoa(r.IntN(1000))+`","ok":true},`...)
		}
		return b[:n]
	}},
	{"repeats of a block", func(r *rand.Rand, n int) []byte {
		block := randomOver(r, 1+r.IntN(400), 256)
		var b []byte
		for len(b) < n {
			b = append(b, block...)
			if len(b) > 0 && r.IntN(3) == 0 {
				b[r.IntN(len(b))]++
			}
		}
		return b[:n]
	}},
	{"number", func(r *rand.Rand, _ int) []byte {
		n := int64(r.Uint64()) >> r.IntN(64)
		return strconv.AppendInt(nil, n, 10)
	}},
}

func randomOver(r *rand.Rand, n, letters int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(letters))
		if letters < 200 {
			b[i] += 'a'
		}
	}
	return b
}

// samples returns n values of all kinds, most of them short, some of up to 100 KB.
func samples(r *rand.Rand, n int) [][]byte {
	var out [][]byte
	for i := range n {
		size := r.IntN(100)
		switch {
		case i%500 == 499:
			size = r.IntN(100_000)
		case i%20 == 19:
			size = r.IntN(10_000)
		case i%4 == 3:
			size = r.IntN(1000)
		}
		out = append(out, sampleKinds[i%len(sampleKinds)].gen(r, size))
	}
	return out
}

// borders are values next to where an encoding changes.
func borders() [][]byte {
	var out [][]byte
	for _, s := range []string{
		"", "0", "-0", "00", "1", "-1", "+1", " 1", "1 ", "01", "-01", "-", "1.0", "1e3", "0x10",
		"126", "127", "128", "-127", "-128", "-129", "255", "256",
		"32766", "32767", "32768", "-32767", "-32768", "-32769", "65535", "65536",
		"2147483646", "2147483647", "2147483648", "-2147483647", "-2147483648", "-2147483649",
		"4294967295", "4294967296", "9999999999", "99999999999", "-9999999999",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"18446744073709551615", "18446744073709551616", "100000000000000000000",
		"-2147483648\x00", "\x00", "\xff",
	} {
		out = append(out, []byte(s))
	}
	for _, n := range []int{
		3, 4, 5, 19, 20, 21, 22, 23, 24, 25, 31, 32, 33, 34, 62, 63, 64, 65, 96, 97, 255, 256,
		263, 264, 265, 266, 267, 268, 269, 300, 528, 529, 530, 531, 1024, 8191, 8192, 8193, 8194, 8200,
		16382, 16383, 16384, 16385, 65535, 65536, 65537, 100_000, 1_500_000,
	} {
		out = append(out,
			[]byte(strings.Repeat("a", n)),
			[]byte(strings.Repeat("abc", n/3+1))[:n],
			[]byte(strings.Repeat("0123456789abcdefghij", n/20+1))[:n],
			[]byte(strings.Repeat("a", n-1)+"b"),
			[]byte("b"+strings.Repeat("a", n-1)))
	}
	return out
}
