package psync

import (
	"bytes"
	"net"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/resp/wire"
)

func TestReplconfTakesWhatReplicasSend(t *testing.T) {
	for line, want := range map[string]string{
		"REPLCONF listening-port 7001":                    "",
		"REPLCONF capa eof capa psync2":                   "",
		"REPLCONF CAPA EOF ip-address host":               "",
		"REPLCONF version 8.0.1":                          "",
		"REPLCONF ack 5":                                  "",
		"REPLCONF getack *":                               "",
		"REPLCONF listening-port many":                    "ERR value is not an integer or out of range",
		"REPLCONF listening-port 70000":                   "ERR value is not an integer or out of range",
		"REPLCONF listening-port":                         "ERR syntax error",
		"REPLCONF rdb-only 1":                             "",
		"REPLCONF rdb-only 2":                             "ERR value is out of range, must be between 0 and 1",
		"REPLCONF rdb-filter-only functions":              "",
		"REPLCONF rdb-filter-only data":                   "ERR Unsupported rdb-filter-only option: data",
		"REPLCONF rdb-everything x":                       "ERR Unrecognized REPLCONF option: rdb-everything",
		"REPLCONF ip-address " + strings.Repeat("h", 256): "ERR REPLCONF ip-address provided by replica instance is too long: 256 bytes",
	} {
		var c Conf
		if got := c.Set(bytes.Fields([]byte(line))); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
		if host, port, eof := c.get(); strings.HasPrefix(line, "REPLCONF CAPA") != (host == "host") || (port == 7001) != strings.Contains(line, "7001") ||
			eof != strings.Contains(strings.ToLower(line), "eof") {
			t.Errorf("%s: host %q, port %d, eof %t", line, host, port, eof)
		}
	}
}

// A scripted connection sends some bytes and ends.
type scripted struct {
	net.Conn
	bytes.Reader
}

func (s *scripted) Read(b []byte) (int, error) { return s.Reader.Read(b) }

// listen has a replica say some bytes, of which the server has read some already.
func listen(rest, more []byte) (r *replica, err error) {
	conn := new(scripted)
	conn.Reset(more)
	r = &replica{link: &Link{Conn: conn, Rest: rest, Conf: new(Conf), Heard: func(int) {}}, acked: make(chan struct{}, 1)}
	return r, r.read()
}

func TestReplicaAcknowledgesBetweenEmptyLines(t *testing.T) {
	text := append([]byte("\n\n"), wire.AppendRequest(nil, "REPLCONF", "ACK", "17")...)
	text = append(append(text, "\n"...), wire.AppendRequest(nil, "REPLCONF", "ack", "4711")...)
	text = append(append(text, "\r\n"...), wire.AppendRequest(nil, "REPLCONF", "ACK", "nothing")...)
	for cut := range text {
		r, err := listen(text[:cut], text[cut:])
		if err != errGone || r.offset != 4711 || len(r.acked) != 1 {
			t.Fatalf("cut at %d: offset %d, %v", cut, r.offset, err)
		}
	}
}

func FuzzReplicaSays(f *testing.F) {
	f.Add([]byte("\n"), wire.AppendRequest(nil, "REPLCONF", "ACK", "17"))
	f.Add([]byte("*3\r\n$8\r\nREPLC"), []byte("ONF\r\n$3\r\nACK\r\n$20\r\n99999999999999999999\r\n"))
	f.Add([]byte("PING\r\nREPLCONF ACK 3\r\n"), []byte("*-1\r\n*0\r\n"))
	f.Fuzz(func(t *testing.T, rest, more []byte) {
		r, err := listen(rest, more)
		if err == nil {
			t.Error("reading has ended without an error")
		}
		if _, again := listen(nil, append(bytes.Clone(rest), more...)); (again == errGone) != (err == errGone) {
			t.Errorf("in two parts: %v; in one: %v", err, again)
		}
		_ = r
	})
}
