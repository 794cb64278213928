package resptest

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// answering serves what answer returns for the words of each request, "" for the end.
func answering(t *testing.T, answer func(words string) string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	Serve(t, l, func(c net.Conn) {
		for in := NewRequests(c); ; {
			words, err := in.Next()
			if err != nil {
				return
			}
			reply := answer(strings.Join(words, " "))
			if _, err := io.WriteString(c, reply); err != nil || reply == "" {
				return
			}
		}
	})
	return l.Addr().String()
}

func TestReplyKeepsAllKinds(t *testing.T) {
	reply := ""
	addr := answering(t, func(words string) string {
		if strings.HasPrefix(words, "HELLO") {
			return "%1\r\n+proto\r\n:3\r\n"
		}
		return reply
	})
	o := Dial(t, addr, 3)
	for raw, want := range map[string]string{
		"+OK\r\n": "+OK", "-ERR no\r\n": "-ERR no", ":-7\r\n": ":-7", "_\r\n": "_", "$-1\r\n": "_$", "*-1\r\n": "_*", "#t\r\n": "#t",
		",1.5\r\n": ",1.5", "(12\r\n": "(12", "=5\r\ntxt:a\r\n": "=txt:a", "$0\r\n\r\n": "$", "*0\r\n": "*",
		">2\r\n+a\r\n~2\r\n:1\r\n%1\r\n+k\r\n*1\r\n$2\r\n\r\n\r\n": ">(+a ~(:1 %(+k *($\r\n))))",
	} {
		reply = raw
		o.Want(want, "ANY")
	}
	reply = "%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n"
	if v := o.Do("ANY").Field("b"); v == nil || v.Text != "2" {
		t.Errorf("field b is %v", v)
	}
}

func TestConnectionsSeeSilenceAndEnd(t *testing.T) {
	addr := answering(t, func(words string) string {
		if words == "QUIT" {
			return ""
		}
		return Bulk(words)
	})
	o := DialRaw(t, addr)
	if all := o.DoAll([][]string{{"a", "b"}, {"c"}}); len(all) != 2 || all[0].Text != "a b" || all[1].Text != "c" {
		t.Errorf("got %v", all)
	}
	o.Silent(time.Millisecond)
	o.Send("x\r\n")
	if v := o.Next(); v.Text != "x\r\n" {
		t.Errorf("got %v", v)
	}
	if n := o.InfoField("n", "m:1\r\nn:23\r\n"); n != 23 {
		t.Errorf("the field is %d", n)
	}
	o.Send("QUIT")
	o.Ended()
}

func TestWaitForReturnsOnceTheConditionHolds(t *testing.T) {
	n := 0
	WaitFor(t, "three", func() bool { n++; return n == 3 })
	if n != 3 {
		t.Errorf("asked %d times", n)
	}
}
