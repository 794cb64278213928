package wire

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/resp/wire/wiretest"
)

// feed gives a guard bytes in chunks, as a connection does, and returns the requests
// it lets through, what is left, and the error that ends it.
func feed(t testing.TB, b []byte, cuts []byte, lim Limits) (requests [][][]byte, left int, err error) {
	g := NewGuard()
	start, end := 0, 0
	for i := 0; end < len(b); i++ {
		end = len(b)
		if i < len(cuts) {
			end = min(max(end, start+int(cuts[i])), len(b))
		}
		for start < end {
			n, args, err := g.Next(b[start:end:end], &lim, nil)
			if err != nil {
				return requests, start, err
			}
			if n == 0 {
				break
			}
			if n < 0 || n > end-start {
				t.Fatalf("a request of %d bytes of %d", n, end-start)
			}
			if g != NewGuard() {
				t.Fatalf("the guard remembers %+v", g)
			}
			if again := Split(b[start:start+n:start+n], nil); !slices.EqualFunc(args, again, bytes.Equal) {
				t.Fatalf("%q, and once more %q", args, again)
			}
			start += n
			if len(args) > 0 {
				requests = append(requests, args)
			}
		}
	}
	return requests, start, nil
}

// referenceFrame reads one request from a whole stream by the rules, without a care
// for speed: n is 0 if it is not complete.
func referenceFrame(b []byte, lim Limits) (args [][]byte, n int, err error) {
	if b[0] != '*' {
		if b[0] == TLSHandshake {
			return nil, 0, errTLSHello
		}
		limit := MaxLine
		if !lim.Authed {
			limit = UnauthedBytes
		}
		line, _, found := bytes.Cut(b, []byte("\n"))
		switch {
		case len(line) > limit:
			return nil, 0, errInline
		case !found:
			return nil, 0, nil
		}
		args, ok := referenceInline(strings.TrimSuffix(string(line), "\r"))
		if !ok {
			return nil, 0, errQuotes
		}
		if isHTTP(args) {
			return nil, 0, ErrHTTP
		}
		return args, len(line) + 1, nil
	}
	length := func(from, largest int, tooLong error) (value, next int, ok bool, err error) {
		line, _, found := bytes.Cut(b[from:], []byte("\n"))
		switch {
		case len(line) > MaxLine:
			return 0, 0, false, tooLong
		case !found:
			return 0, 0, false, nil
		}
		text, crlf := strings.CutSuffix(string(line[1:]), "\r")
		value, atoiErr := strconv.Atoi(text)
		ok = crlf && atoiErr == nil && strconv.Itoa(value) == text && value <= largest
		if !ok || len(strings.TrimPrefix(text, "-")) > 10 {
			return 0, 0, false, errBad
		}
		return value, from + len(line) + 1, true, nil
	}
	count, at, ok, err := length(0, 1<<31-1, errMultibulkLine)
	switch {
	case err == errBad:
		return nil, 0, errMultibulkLength
	case !ok:
		return nil, 0, err
	case count > 10 && !lim.Authed:
		return nil, 0, errMultibulkAuth
	case count > lim.Args:
		return nil, 0, errMultibulkLength
	}
	for range max(count, 0) {
		if at == len(b) {
			return nil, 0, nil
		}
		if b[at] != '$' {
			return nil, 0, ProtocolError(fmt.Sprintf("expected '$', got '%s'", b[at:at+1]))
		}
		size, next, ok, err := length(at, lim.Bulk, errBulkLine)
		switch {
		case err == errBad || ok && size < 0:
			return nil, 0, errBulkLength
		case !ok:
			return nil, 0, err
		case size > 16<<10 && !lim.Authed:
			return nil, 0, errBulkAuth
		case size > len(b)-next-2:
			return nil, 0, nil
		case string(b[next+size:next+size+2]) != "\r\n":
			return nil, 0, errBulkLength
		}
		args = append(args, b[next:next+size])
		at = next + size + 2
	}
	return args, at, nil
}

const errBad ProtocolError = "no length"

// reference reads requests until one is not complete, or is an error.
func reference(b []byte, lim Limits) (requests [][][]byte, left int, err error) {
	for left < len(b) {
		args, n, err := referenceFrame(b[left:], lim)
		if err != nil || n == 0 {
			return requests, left, err
		}
		left += n
		if len(args) > 0 {
			requests = append(requests, args)
		}
	}
	return requests, left, nil
}

func sameRequests(a, b [][][]byte) bool {
	return slices.EqualFunc(a, b, func(x, y [][]byte) bool { return slices.EqualFunc(x, y, bytes.Equal) })
}

// checkFrame: in one piece, in chunks and by the reference, the same comes out, and
// nothing of it is past a limit.
func checkFrame(t testing.TB, b, cuts []byte, lim Limits) {
	want, wantLeft, wantErr := reference(b, lim)
	for _, cuts := range [][]byte{nil, cuts} {
		got, left, err := feed(t, b, cuts, lim)
		if !sameRequests(got, want) || left != wantLeft || err != wantErr {
			t.Fatalf("%.300q cut by %d, %+v:\n%.300q, then %v at %d; want\n%.300q, then %v at %d",
				b, cuts, lim, got, err, left, want, wantErr, wantLeft)
		}
		for _, args := range got {
			for _, arg := range args {
				if len(arg) > max(lim.Bulk, MaxLine) || !lim.Authed && len(arg) > UnauthedBytes {
					t.Errorf("an argument of %d bytes, %+v", len(arg), lim)
				}
			}
		}
	}
}

func FuzzFrame(f *testing.F) {
	for i, seed := range wiretest.FrameSeeds() {
		f.Add(seed, []byte{1, 3, 2}, i%3 > 0, uint16(i%20), uint16(5*i))
	}
	f.Fuzz(func(t *testing.T, b, cuts []byte, authed bool, args, bulk uint16) {
		checkFrame(t, b, cuts, Limits{Args: int(args), Bulk: int(bulk), Authed: authed})
	})
}

// TestLinesAtTheirLimit: wherever a long line is cut, it is too long or not.
func TestLinesAtTheirLimit(t *testing.T) {
	for _, authed := range []bool{true, false} {
		lim := Limits{Args: 10, Bulk: 1 << 20, Authed: authed}
		for _, prefix := range []string{"*", "*1\r\n$", "x"} {
			for _, size := range []int{UnauthedBytes, MaxLine} {
				for d := -4; d <= 2; d++ {
					for _, end := range []string{"", "\r", "\n", "\r\n"} {
						b := []byte(prefix + strings.Repeat("1", size+d) + end)
						want, wantLeft, wantErr := reference(b, lim)
						for back := range 8 {
							g := NewGuard()
							n, _, err := g.Next(b[:len(b)-back], &lim, nil)
							if n == 0 && err == nil {
								n, _, err = g.Next(b, &lim, nil)
							}
							if err != wantErr || n != wantLeft && err == nil {
								t.Fatalf("%q, %d×1, %q: %d, %v; want %d, %v, %d requests",
									prefix, size+d, end, n, err, wantLeft, wantErr, len(want))
							}
						}
					}
				}
			}
		}
	}
}

// TestFramesByChance puts parts of requests together in any order: closer to
// requests than what a fuzzer begins with.
func TestFramesByChance(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing to see for the race detector")
	}
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 2))
	parts := []string{"*", "$", "\r\n", "\n", "\r", "0", "1", "2", "3", "-1", "-0", "16385", "11", "a", "abc", " ",
		"'", "\"", "\\", "\\x4", "\x00", "*1\r\n", "*2\r\n", "$0\r\n\r\n", "$1\r\na\r\n", "$3\r\nGET\r\n", "PING\r\n"}
	for range 200_000 {
		var b, cuts []byte
		for range 1 + rnd.IntN(12) {
			b = append(b, parts[rnd.IntN(len(parts))]...)
			cuts = append(cuts, byte(rnd.IntN(8)))
		}
		checkFrame(t, b, cuts, Limits{Args: rnd.IntN(20), Bulk: rnd.IntN(5), Authed: rnd.IntN(2) > 0})
	}
}

// referenceInline splits a line by what Redis documents of sdssplitargs: a machine
// that is between words, in one, or in one of two sorts of quotes.
func referenceInline(line string) (words [][]byte, ok bool) {
	const (
		between = iota
		inWord
		afterQuote
	)
	line, _, _ = strings.Cut(line, "\x00") // to C it ends there
	var word strings.Builder
	state := between
	end := func() {
		words = append(words, []byte(word.String()))
		word.Reset()
		state = between
	}
	for len(line) > 0 {
		c := line[0]
		line = line[1:]
		space := strings.IndexByte(" \t\n\v\f\r", c) >= 0
		switch {
		case state == afterQuote:
			if !space {
				return nil, false
			}
			end()
		case state == between && space:
		case state == inWord && space && c != '\v' && c != '\f':
			end()
		case c == '\'':
			for {
				if line == "" {
					return nil, false
				}
				if rest, ok := strings.CutPrefix(line, `\'`); ok {
					word.WriteByte('\'')
					line = rest
					continue
				}
				c, line = line[0], line[1:]
				if c == '\'' {
					break
				}
				word.WriteByte(c)
			}
			state = afterQuote
		case c == '"':
			for state = inWord; state != afterQuote; {
				switch {
				case line == "":
					return nil, false
				case len(line) >= 4 && line[:2] == `\x` && hexDigits(line[2:4]):
					c, _ := strconv.ParseUint(line[2:4], 16, 8)
					word.WriteByte(byte(c))
					line = line[4:]
				case line[0] == '\\' && len(line) > 1:
					plain := line[1]
					if at := strings.IndexByte("nrtba", plain); at >= 0 {
						plain = "\n\r\t\b\a"[at]
					}
					word.WriteByte(plain)
					line = line[2:]
				case line[0] == '"':
					state = afterQuote
					line = line[1:]
				default:
					word.WriteByte(line[0])
					line = line[1:]
				}
			}
		default:
			state = inWord
			word.WriteByte(c)
		}
	}
	if state != between {
		end()
	}
	return words, true
}

func hexDigits(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }

func FuzzInline(f *testing.F) {
	for _, seed := range wiretest.FrameSeeds() {
		line, _, _ := bytes.Cut(seed, []byte("\n"))
		f.Add(bytes.TrimSuffix(line, []byte("\r")))
	}
	f.Add([]byte(`a "\x4" "\x" "\x41" '\x41' "\`))
	f.Add([]byte("'a\x00'"))
	f.Fuzz(func(t *testing.T, line []byte) {
		before := bytes.Clone(line)
		args, err := SplitInline(line, nil)
		want, ok := referenceInline(string(line))
		if (err == nil) != ok || ok && !slices.EqualFunc(args, want, bytes.Equal) {
			t.Errorf("%q: %q, %v; want %q, %t", line, args, err, want, ok)
		}
		if !bytes.Equal(line, before) {
			t.Errorf("%q became %q", before, line)
		}
	})
}
