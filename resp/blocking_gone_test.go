package resp

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// A consumer that is blocked gets the error that its command would get now: as in Redis since 7.2.
func TestBlockedConsumersLearnThatTheirStreamIsGone(t *testing.T) {
	const noGroup = "-NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option"
	_, alone := serveTest(t, nil)
	r := routedTest(t, 2)
	r.placeAll(oneOwner(t, "n1"))
	for name, addr := range map[string]string{"alone": alone, "at another node": r.addrs[0]} {
		for _, test := range []struct{ commands, want string }{
			{"DEL s", noGroup},
			{"FLUSHALL", noGroup},
			{"FLUSHDB", noGroup},
			{"RENAME s other", noGroup},
			{"SET s x", "-WRONGTYPE Operation against a key holding the wrong kind of value"},
			{"XGROUP DESTROY s g", noGroup},
			{"MULTI;DEL s;SADD s x;EXEC", "-WRONGTYPE Operation against a key holding the wrong kind of value"},
			{"MULTI;DEL s;XGROUP CREATE s g $ MKSTREAM;EXEC;XADD s 1-1 a b", "*(*($s *(*($1-1 *($a $b)))))"},
		} {
			o, waiter := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
			o.Do("DEL", "s", "other")
			o.Want("+OK", "XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
			waiter.Send("XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">")
			awaitBlocked(t, o, 1)
			if name == "alone" && (o.InfoField("total_blocking_keys", "INFO") != 1 || o.InfoField("total_blocking_keys_on_nokey", "INFO") != 1) {
				t.Error("the key is not counted in INFO")
			}
			for command := range strings.SplitSeq(test.commands, ";") {
				if got := o.Do(strings.Fields(command)...); got.Kind == '-' {
					t.Fatalf("%s: %s", command, got)
				}
			}
			if got := waiter.Next().String(); got != test.want {
				t.Errorf("%s, %s: %s, want %s", name, test.commands, got, test.want)
			}
			awaitBlocked(t, o, 0)
		}
	}
}

// What a client publishes to itself follows the reply of the whole command, as in Redis since 7.2.
func TestOwnMessagesFollowTheReply(t *testing.T) {
	_, alone := serveTest(t, nil)
	r := routedTest(t, 2)
	r.placeAll(oneOwner(t, "n1"))
	first, second := ">($message $c $1)", ">($message $c $2)"
	for name, addr := range map[string]string{"alone": alone, "of two nodes": r.addrs[1]} {
		o := resptest.Dial(t, addr, 3)
		o.Want(">($subscribe $c :1)", "SUBSCRIBE", "c")
		for _, test := range []struct {
			commands string
			want     []string
		}{
			{"PUBLISH c 1;PUBLISH c 2;GET x", []string{":1", first, ":1", second, "_"}},
			{"MULTI;PUBLISH c 1;SET x y;PUBLISH c 2;EXEC;DEL x", []string{"+OK", "+QUEUED", "+QUEUED", "+QUEUED", "*(:1 +OK :1)", first, second, ":1"}},
			{"MULTI;PUBLISH c 1;DBSIZE;PUBLISH c 2;EXEC;GET x", []string{"+OK", "+QUEUED", "+QUEUED", "+QUEUED", "*(:1 :0 :1)", first, second, "_"}},
			{"EVAL redis.call('publish','c','1') 0;GET x", []string{"_", first, "_"}},
			{"EVAL return~redis.call('publish','c',KEYS[1]) 1 2;GET x", []string{":1", second, "_"}},
			{"CLIENT REPLY SKIP;PUBLISH c 1;GET x", []string{first, "_"}},
		} {
			var batch [][]string
			for command := range strings.SplitSeq(test.commands, ";") {
				var args []string
				for word := range strings.FieldsSeq(command) {
					args = append(args, strings.ReplaceAll(word, "~", " "))
				}
				batch = append(batch, args)
			}
			for _, args := range batch {
				o.Send(args...)
			}
			for i, want := range test.want {
				if got := o.Next().String(); got != want {
					t.Fatalf("%s, %s: reply %d is %s, want %s", name, test.commands, i, got, want)
				}
			}
		}
	}
}
