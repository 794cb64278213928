package wire

import (
	"strconv"

	"github.com/tidwall/redcon"
)

// AppendRequest appends a request of the given words.
func AppendRequest[T string | []byte](b []byte, words ...T) []byte {
	b = AppendArray(b, len(words))
	for _, word := range words {
		b = append(b, '$')
		b = strconv.AppendInt(b, int64(len(word)), 10)
		b = append(b, "\r\n"...)
		b = append(b, word...)
		b = append(b, "\r\n"...)
	}
	return b
}

// AppendArray appends the head of an array of n elements.
func AppendArray(b []byte, n int) []byte { return redcon.AppendArray(b, n) }

// AppendBulk appends a bulk string.
func AppendBulk(b, text []byte) []byte { return redcon.AppendBulk(b, text) }

// AppendBulkString appends a bulk string.
func AppendBulkString(b []byte, text string) []byte { return redcon.AppendBulkString(b, text) }

// AppendBulkInt appends a number as a bulk string.
func AppendBulkInt(b []byte, n int64) []byte { return redcon.AppendBulkInt(b, n) }

// AppendInt appends an integer.
func AppendInt(b []byte, n int64) []byte { return redcon.AppendInt(b, n) }

// SubRequest returns a request of a subcommand.
func SubRequest(name, sub string, args ...[]byte) []byte {
	b := AppendArray(nil, 2+len(args))
	b = AppendBulkString(b, name)
	b = AppendBulkString(b, sub)
	for _, arg := range args {
		b = AppendBulk(b, arg)
	}
	return b
}
