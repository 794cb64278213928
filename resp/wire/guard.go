package wire

import (
	"bytes"
	"math"
	"strconv"
)

// A Guard parses requests and bounds them. It walks the frame of a request as bytes arrive, goes on
// where it stopped when more do, and checks each length before it goes by it.
//
// It replaces redcon's parser, which cannot be bounded in the same walk: that takes a whole packet in
// one call, panics on a bulk length near 2⁶³, loops on a huge count, and waits for the end of an
// inline command without a limit. So every frame would have to be checked first and parsed then.
type Guard struct {
	pos  int // bytes of the request walked over so far
	args int // arguments still to come; -1: the count is not read yet
	line int // bytes of an unfinished line looked at
	Need int // bytes that the request has at least; 0: not known
}

// Limits bound what a guard lets through.
type Limits struct {
	Args int // arguments of a request
	Bulk int // bytes of an argument
	// Authed is false while a password is missing: then requests must be tiny.
	Authed bool
}

const (
	// MaxLine is the most bytes of a length with its prefix, or of an inline command, as in
	// Redis.
	MaxLine      = 64 << 10
	unauthedArgs = 10
	// UnauthedBytes is the most bytes of an argument while a password is missing.
	UnauthedBytes = 16 << 10
)

// A ProtocolError ends a connection after it has been sent.
type ProtocolError string

// Error implements error: the text that the client is told.
func (e ProtocolError) Error() string { return "Protocol error: " + string(e) }

const (
	errMultibulkLength ProtocolError = "invalid multibulk length"
	errMultibulkAuth   ProtocolError = "unauthenticated multibulk length"
	errMultibulkLine   ProtocolError = "too big mbulk count string"
	errBulkLength      ProtocolError = "invalid bulk length"
	errBulkAuth        ProtocolError = "unauthenticated bulk length"
	errBulkLine        ProtocolError = "too big bulk count string"
	errInline          ProtocolError = "too big inline request"
	errQuotes          ProtocolError = "unbalanced quotes in request"
)

// NewGuard returns a guard at the beginning of a request.
func NewGuard() Guard { return Guard{args: -1} }

// noLimits are those of a request that was let through before.
var noLimits = Limits{Args: math.MaxInt, Bulk: math.MaxInt, Authed: true}

// Next appends the arguments of the request that buf starts with to args, and returns its length, or
// 0 if it is not complete yet. A request of no arguments (an empty line, *0) has a length, too. The
// arguments point into buf, except those of an inline command.
//
// A request that is there as a whole is walked once. One that comes in pieces is walked again once it
// is complete, since its caller may have moved the buffer meanwhile.
func (g *Guard) Next(buf []byte, lim *Limits, args [][]byte) (int, [][]byte, error) {
	if len(buf) == 0 {
		return 0, args, nil
	}
	if buf[0] != '*' {
		return g.inline(buf, lim, args)
	}
	pieces := g.args >= 0
	if !pieces {
		n, ok, err := g.count(buf, lim)
		if !ok {
			return 0, args, err
		}
		if n == 0 {
			return g.done(), args, nil
		}
		g.args = n
	}
	first := len(args)
	for g.args > 0 {
		arg, err := g.bulk(buf, lim)
		if arg == nil {
			return 0, args[:first], err
		}
		if !pieces {
			args = append(args, arg)
		}
		g.args--
	}
	n := g.done()
	if pieces {
		return g.Next(buf[:n], &noLimits, args)
	}
	return n, args, nil
}

// count reads how many arguments a request has; less than none is none. It is false if the count is
// not complete, or is wrong.
func (g *Guard) count(buf []byte, lim *Limits) (int, bool, error) {
	n, valid := g.shortLine(buf, 1)
	if !valid {
		line, ok, err := g.nextLine(buf, 1, errMultibulkLine)
		if !ok {
			return 0, false, err
		}
		n, valid = parseLength(line)
	}
	switch {
	case !valid || n > math.MaxInt32:
		return 0, false, errMultibulkLength
	case n > unauthedArgs && !lim.Authed:
		return 0, false, errMultibulkAuth
	case n > int64(lim.Args):
		return 0, false, errMultibulkLength
	}
	return max(int(n), 0), true, nil
}

// bulk reads an argument, and moves pos behind it. It returns nil if that is not complete, or is
// wrong.
func (g *Guard) bulk(buf []byte, lim *Limits) ([]byte, error) {
	if g.pos >= len(buf) {
		return nil, nil
	}
	if buf[g.pos] != '$' {
		return nil, ProtocolError("expected '$', got '" + string(buf[g.pos:g.pos+1]) + "'")
	}
	start := g.pos
	n, valid := g.shortLine(buf, start+1)
	if !valid {
		line, ok, err := g.nextLine(buf, start+1, errBulkLine)
		if !ok {
			return nil, err
		}
		n, valid = parseLength(line)
	}
	switch {
	case !valid || n < 0 || n > int64(lim.Bulk):
		return nil, errBulkLength
	case n > UnauthedBytes && !lim.Authed:
		return nil, errBulkAuth
	}
	at, end := g.pos, g.pos+int(n)+2
	if end > len(buf) {
		g.pos, g.Need = start, end
		return nil, nil
	}
	if buf[end-2] != '\r' || buf[end-1] != '\n' {
		return nil, errBulkLength
	}
	g.pos = end
	return buf[at : end-2 : end-2], nil
}

// done returns the length of the request and forgets it.
func (g *Guard) done() int {
	n := g.pos
	*g = NewGuard()
	return n
}

// nextLine returns what lies between from and the next CR LF, and moves pos
// behind it. The byte before from belongs to the line, too.
func (g *Guard) nextLine(buf []byte, from int, tooLong error) (line []byte, ok bool, err error) {
	i := bytes.IndexByte(buf[min(from+g.line, len(buf)):], '\n')
	if i < 0 {
		g.line = max(len(buf)-from, 0)
		if g.line >= MaxLine {
			return nil, false, tooLong
		}
		return nil, false, nil
	}
	end := from + g.line + i
	g.line = 0
	if end-from >= MaxLine {
		return nil, false, tooLong
	}
	g.pos = end + 1
	line = buf[from:end]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1], true, nil
	}
	// Redis looks for CR and takes the byte behind it for LF; a bare LF is
	// no line to it, and no number to anybody.
	return nil, true, nil
}

// shortLine is nextLine and parseLength for what most lines are: a number of one or two digits
// that is all there. For others ok is false, and nothing has moved.
func (g *Guard) shortLine(buf []byte, from int) (n int64, ok bool) {
	if g.line > 0 || from+4 > len(buf) {
		return 0, false
	}
	b := buf[from : from+4]
	d := b[0] - '0'
	if d > 9 {
		return 0, false
	}
	if b[1] == '\r' && b[2] == '\n' {
		g.pos = from + 3
		return int64(d), true
	}
	e := b[1] - '0'
	if d == 0 || e > 9 || b[2] != '\r' || b[3] != '\n' {
		return 0, false
	}
	g.pos = from + 4
	return int64(d)*10 + int64(e), true
}

// inline is Next for a request that is a line of words.
func (g *Guard) inline(buf []byte, lim *Limits, args [][]byte) (int, [][]byte, error) {
	if buf[0] == TLSHandshake {
		return 0, args, errTLSHello
	}
	limit := MaxLine
	if !lim.Authed {
		limit = UnauthedBytes
	}
	i := bytes.IndexByte(buf[g.line:], '\n')
	if i < 0 {
		g.line = len(buf)
		if g.line > limit {
			return 0, args, errInline
		}
		return 0, args, nil
	}
	end := g.line + i
	if end > limit {
		return 0, args, errInline
	}
	first := len(args)
	args, err := SplitInline(bytes.TrimSuffix(buf[:end], []byte{'\r'}), args)
	if err == nil && isHTTP(args[first:]) {
		err = ErrHTTP
	}
	if err != nil {
		return 0, args[:first], err
	}
	g.pos = end + 1
	return g.done(), args, nil
}

// parseLength parses a count or length of at most 10 digits. As to Redis, "-0" and
// leading zeros are no numbers.
func parseLength(b []byte) (int64, bool) {
	neg := false
	if len(b) > 0 && b[0] == '-' {
		neg, b = true, b[1:]
	}
	if len(b) == 0 || len(b) > 10 || b[0] == '0' && (neg || len(b) > 1) {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}

// Split appends the arguments of a request that a guard has let through before to args.
func Split(request []byte, args [][]byte) [][]byte {
	g := NewGuard()
	_, args, _ = g.Next(request, &noLimits, args)
	return args
}

// SplitInline splits a line as a shell would: words in double quotes may hold
// \n \r \t \b \a \xHH and escaped quotes, those in single quotes only \'. As in
// Redis a NUL ends the line, and a vertical tab or form feed goes with the spaces
// between words but does not end one.
func SplitInline(line []byte, args [][]byte) ([][]byte, error) {
	if i := bytes.IndexByte(line, 0); i >= 0 {
		line = line[:i]
	}
	for {
		line = bytes.TrimLeft(line, " \t\n\v\f\r")
		if len(line) == 0 {
			return args, nil
		}
		word, n, ok := inlineWord(line)
		if !ok {
			return args, errQuotes
		}
		args = append(args, word)
		line = line[n:]
	}
}

// inlineWord returns the word at the start of line and how much of line it takes.
func inlineWord(line []byte) (word []byte, n int, ok bool) {
	word = []byte{}
	for n < len(line) && !endsWord(line[n]) {
		if c := line[n]; c != '"' && c != '\'' {
			word = append(word, c)
			n++
			continue
		}
		quoted, size, ok := unquote(line[n:])
		if !ok {
			return nil, 0, false
		}
		n += size
		// A closing quote ends the word.
		return append(word, quoted...), n, n == len(line) || isSpace(line[n])
	}
	return word, n, true
}

// unquote returns what the quoted text at the start of b means and its length
// with both quotes.
func unquote(b []byte) (text []byte, n int, ok bool) {
	quote := b[0]
	for i := 1; i < len(b); i++ {
		c := b[i]
		switch {
		case c == quote:
			return text, i + 1, true
		case c == '\\' && quote == '\'' && i+1 < len(b) && b[i+1] == '\'':
			i++
			text = append(text, '\'')
		case c == '\\' && quote == '"' && i+1 < len(b):
			i++
			if b[i] == 'x' && i+2 < len(b) {
				if v, err := strconv.ParseUint(string(b[i+1:i+3]), 16, 8); err == nil {
					text = append(text, byte(v))
					i += 2
					continue
				}
			}
			text = append(text, unescape(b[i]))
		default:
			text = append(text, c)
		}
	}
	return nil, 0, false
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'a':
		return '\a'
	}
	return c
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func endsWord(c byte) bool { return isSpace(c) && c != '\v' && c != '\f' }
