package wiretest

import (
	"slices"
	"strings"
)

// longLine is the length of the longest line that a server reads.
const longLine = 64 << 10

// Quit ends what is sent to a server that is expected to go on: its +OK tells that
// the server has, and the end of the stream that the reply is whole.
const (
	Quit     = "*1\r\n$4\r\nQUIT\r\n"
	QuitText = "+OK\r\n"
)

// A Malformed is what breaks the protocol, and what Redis 7.0.15 says before it ends
// the connection.
type Malformed struct{ Sent, Want string }

// ProtocolErrors are streams that no server accepts.
var ProtocolErrors = []Malformed{
	{"*a\r\n", "invalid multibulk length"},
	{"*\r\n", "invalid multibulk length"},
	{"*1a\r\n", "invalid multibulk length"},
	{"* 1\r\n", "invalid multibulk length"},
	{"*1 \r\n", "invalid multibulk length"},
	{"*+1\r\n", "invalid multibulk length"},
	{"*-0\r\n", "invalid multibulk length"},
	{"*01\r\n", "invalid multibulk length"},
	{"*--1\r\n", "invalid multibulk length"},
	{"*0x1\r\n", "invalid multibulk length"},
	{"*2147483648\r\n", "invalid multibulk length"},
	{"*9223372036854775807\r\n", "invalid multibulk length"},
	{"*9223372036854775808\r\n", "invalid multibulk length"},
	{"*99999999999999999999999999\r\n", "invalid multibulk length"},
	{"*1\r\n\r\n", "expected '$', got '\r'"},
	{"*1\r\nPING\r\n", "expected '$', got 'P'"},
	{"*2\r\n$4\r\nECHO\r\n:1\r\n", "expected '$', got ':'"},
	{"*1\r\n*1\r\n$4\r\nPING\r\n", "expected '$', got '*'"},
	{"*1\r\n$\r\n", "invalid bulk length"},
	{"*1\r\n$a\r\n", "invalid bulk length"},
	{"*1\r\n$-1\r\n", "invalid bulk length"},
	{"*1\r\n$-0\r\n", "invalid bulk length"},
	{"*1\r\n$00\r\n", "invalid bulk length"},
	{"*1\r\n$+4\r\nPING\r\n", "invalid bulk length"},
	{"*1\r\n$4 \r\nPING\r\n", "invalid bulk length"},
	{"*1\r\n$536870913\r\n", "invalid bulk length"},
	{"*1\r\n$9223372036854775800\r\nPING\r\n", "invalid bulk length"},
	{"*1\r\n$18446744073709551620\r\nPING\r\n", "invalid bulk length"},
	{"*2\r\n$4\r\nECHO\r\n$-2147483648\r\n", "invalid bulk length"},
	{"\"PING\r\n", "unbalanced quotes in request"},
	{"'PING\r\n", "unbalanced quotes in request"},
	{"ECHO \"a\"b\r\n", "unbalanced quotes in request"},
	{"ECHO 'a'b\r\n", "unbalanced quotes in request"},
	{"ECHO 'a\\'\r\n", "unbalanced quotes in request"},
	{"ECHO \"a\\\"\r\n", "unbalanced quotes in request"},
	{"ECHO \"a\\\n", "unbalanced quotes in request"},
	// Exactly one byte too many: with more, the reply may be lost to a reset.
	{"*" + strings.Repeat("1", longLine), "too big mbulk count string"},
	{"*1\r\n$" + strings.Repeat("1", longLine), "too big bulk count string"},
	{strings.Repeat("x", longLine+1), "too big inline request"},
}

// Reply is what the server says.
func (m *Malformed) Reply() string {
	// What a reply cannot hold becomes a space.
	return "-ERR Protocol error: " + strings.NewReplacer("\r", " ", "\n", " ").Replace(m.Want) + "\r\n"
}

// Accepted are requests in all the forms there are, with their replies.
var Accepted = []struct{ Sent, Want string }{
	{"", ""},
	{"\r\n", ""},
	{"\n", ""},
	{"\r\n\r\n\n", ""},
	{"   \r\n", ""},
	{"\t\v\f\r\n", ""},
	{"*0\r\n", ""},
	{"*-1\r\n", ""},
	{"*-2147483648\r\n", ""},
	{"*0\r\n*-1\r\n\r\nPING\r\n", "+PONG\r\n"},
	{"PING\n", "+PONG\r\n"},
	{"PING\r\n", "+PONG\r\n"},
	{"  ping  \n", "+PONG\r\n"},
	{"PING\nPING\r\n*1\r\n$4\r\nPING\r\nPING\n", strings.Repeat("+PONG\r\n", 4)},
	{"*1\r\n$4\r\nPING\r\n", "+PONG\r\n"},
	{"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", "$0\r\n\r\n"},
	{"*2\r\n$4\r\nECHO\r\n$7\r\n*1\r\n$4\r\r\n", "$7\r\n*1\r\n$4\r\r\n"},
	{"ECHO \"\"\n", "$0\r\n\r\n"},
	{"ECHO ''\n", "$0\r\n\r\n"},
	{"ECHO \"a\\x41\\n\\r\\t\\b\\a\\q\\\"\\\\'\"\n", "$11\r\naA\n\r\t\b\aq\"\\'\r\n"},
	{"ECHO \"\\x4\\xg1\\X41\"\n", "$8\r\nx4xg1X41\r\n"},
	{"ECHO 'a\\'b\\n\"\\x41'\n", "$10\r\na'b\\n\"\\x41\r\n"},
	{"ECHO a\"b c\"\n", "$4\r\nab c\r\n"},
	{"ECHO a'b c'\n", "$4\r\nab c\r\n"},
	{"ECHO a\\nb\n", "$4\r\na\\nb\r\n"},
	{"ECHO\ta\n", "$1\r\na\r\n"},
	{"ECHO\ra\n", "$1\r\na\r\n"},
	{"ECHO \va\n", "$1\r\na\r\n"},
	{"ECHO a\vb\n", "$3\r\na\vb\r\n"},
	{"ECHO a\fb\n", "$3\r\na\fb\r\n"},
	{"ECHO \"a\"\v\n", "$1\r\na\r\n"},
	{"ECHO \xff\x80\n", "$2\r\n\xff\x80\r\n"},
	{"ECHO *1 \n", "$2\r\n*1\r\n"},
	{"ECHO " + strings.Repeat("x", longLine-6) + "\n", "$65530\r\n" + strings.Repeat("x", longLine-6) + "\r\n"},
}

// Unauthenticated are requests before AUTH. Redis bounds the line of an inline
// command then as always; we bound it as a bulk string.
var Unauthenticated = []Malformed{
	{"*11\r\n", "unauthenticated multibulk length"},
	{"*1048576\r\n", "unauthenticated multibulk length"},
	{"*2147483647\r\n", "unauthenticated multibulk length"},
	{"*1\r\n$16385\r\n", "unauthenticated bulk length"},
	{"*2\r\n$4\r\nAUTH\r\n$536870912\r\n", "unauthenticated bulk length"},
	{"*1\r\n$536870913\r\n", "invalid bulk length"},
	{"*2147483648\r\n", "invalid multibulk length"},
}

// Mixed is a pipeline of requests in all forms, with their replies.
const (
	Mixed = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$5\r\n\r\n$1\n\r\nGET a\r\n\r\n*0\r\nPING\n" +
		"*-1\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\nECHO \"\\x41\"\r\nnosuch\r\n"
	MixedWant = "+OK\r\n$5\r\n\r\n$1\n\r\n+PONG\r\n$5\r\n\r\n$1\n\r\n$1\r\nA\r\n" +
		"-ERR unknown command 'nosuch', with args beginning with: \r\n"
)

// FrameSeeds are streams of which each says something about the framing.
func FrameSeeds() [][]byte {
	seeds := [][]byte{[]byte(Mixed), []byte(Mixed + Mixed)}
	for _, m := range slices.Concat(ProtocolErrors, Unauthenticated) {
		if len(m.Sent) < 1000 {
			seeds = append(seeds, []byte(m.Sent), []byte("PING\r\n"+m.Sent+Quit))
		}
	}
	for _, a := range Accepted {
		if len(a.Sent) < 1000 {
			seeds = append(seeds, []byte(a.Sent))
		}
	}
	return seeds
}
