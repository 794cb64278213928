package client

import "strconv"

// A line is one command in RESP, and where its arguments lie in it.
type line struct {
	body  []byte
	marks []int // of each argument, where it begins and ends in body
}

func (l *line) args() int { return len(l.marks) / 2 }

func (l *line) arg(i int) []byte { return l.body[l.marks[2*i]:l.marks[2*i+1]] }

// keyCount is how many keys a command has that can be split.
func (l *line) keyCount(cmd *command) int { return (l.args() - 1) / cmd.split.step }

// encode appends a command to body, and its arguments' places, counted from from, to
// marks.
func encode[T ~string | ~[]byte](body []byte, marks []int, from int, args []T) ([]byte, []int) {
	body = appendHead(body, '*', len(args))
	for _, a := range args {
		body = appendHead(body, '$', len(a))
		marks = append(marks, len(body)-from, len(body)-from+len(a))
		body = append(body, a...)
		body = append(body, '\r', '\n')
	}
	return body, marks
}

// appendCommand encodes a command.
func appendCommand[T ~string | ~[]byte](b []byte, args []T) []byte {
	b = appendHead(b, '*', len(args))
	for _, a := range args {
		b = appendHead(b, '$', len(a))
		b = append(b, a...)
		b = append(b, '\r', '\n')
	}
	return b
}

func appendHead(b []byte, kind byte, n int) []byte {
	b = append(b, kind)
	if n < 10 {
		b = append(b, byte('0'+n))
	} else {
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, '\r', '\n')
}
