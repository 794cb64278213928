package client

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/redistest"
)

func TestRingSpeaksToRedis(t *testing.T) {
	addr := redistest.Start(t, "--requirepass", "secret")
	for _, old := range []bool{false, true} {
		r, err := Open(t.Context(), Config{Addrs: []string{addr}, Password: "secret", RESP2: old})
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		p := r.Pipeline().one("DEL", "h", "l", "k").one("SET", "k", "v").one("HSET", "h", "a", "1", "b", "2").
			one("RPUSH", "l", "1", "2").one("HGETALL", "h").one("LRANGE", "l", "0", "-1").one("GET", "none").one("HGET", "k", "f").one("MGET", "k", "none")
		replies, err := p.Exec(ctx)
		if err == nil || !strings.Contains(err.Error(), "command 8 of 9: WRONGTYPE") {
			t.Errorf("got %v", err)
		}
		if m, err := replies[4].Map(); len(m) != 2 || err != nil {
			t.Errorf("HGETALL: %v, %v", m, err)
		}
		if l, err := replies[5].Texts(); fmt.Sprint(l) != "[1 2]" || err != nil {
			t.Errorf("LRANGE: %v, %v", l, err)
		}
		if !replies[6].IsNull() {
			t.Errorf("GET: %v", replies[6])
		}
		r.Close()
	}
	for _, password := range []string{"", "wrong"} {
		if _, err := Open(t.Context(), Config{Addrs: []string{addr}, Password: password}); !refusesClient(err) {
			t.Errorf("password %q: %v", password, err)
		}
	}
}

// The key of a command is where Redis itself sees it.
func TestKeysAreWhereTheServerSeesThem(t *testing.T) {
	r, err := Open(t.Context(), Config{Addrs: []string{redistest.Start(t)}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, command := range []string{
		"get k", "set k v", "mset a 1 b 2", "bitop and dest a b", "object encoding k", "memory usage k", "xgroup create s g $",
		"zunion 2 a b", "zunionstore dest 2 a b", "zinter 1 a", "eval return 2 a b c", "fcall f 1 k x", "xread count 1 streams s t 0 0",
		"xreadgroup group g c streams s 0", "migrate h 1 k 0 5", "sort k by w", "geosearchstore d s frommember m byradius 1 m",
		"lmpop 1 k left", "zadd k 1 m", "pfcount a b", "SetEx k 1 v", "xinfo stream s", "sintercard 2 a b", "lcs a b", "rename a b",
	} {
		args := strings.Fields(command)
		reply := r.Do(context.Background(), append([]string{"COMMAND", "GETKEYS"}, args...)...)
		keys, err := reply.Texts()
		if err != nil || len(keys) == 0 {
			t.Errorf("%s: %v", command, err)
			continue
		}
		l := line{}
		l.body, l.marks = encode(nil, nil, 0, args)
		at := (*r.commands.Load()).of(&l).key(&l)
		if at == 0 || string(l.arg(at)) != keys[0] {
			t.Errorf("%s: the key is argument %d, want %s", command, at, keys[0])
		}
	}
	for _, command := range []string{"ping", "dbsize", "keys *", "scan 0", "config get x", "info", "eval return 0", "publish c m", "time", "xread block 0"} {
		args := strings.Fields(command)
		l := line{}
		l.body, l.marks = encode(nil, nil, 0, args)
		if at := (*r.commands.Load()).of(&l).key(&l); at != 0 {
			t.Errorf("%s: argument %d is taken for a key", command, at)
		}
	}
	for command, reads := range map[string]bool{"get k": true, "set k v": false, "mget a b": true, "eval x 0": false, "ping": true, "incr k": false, "nonsense k": false} {
		args := strings.Fields(command)
		l := line{}
		l.body, l.marks = encode(nil, nil, 0, args)
		if got := (*r.commands.Load()).of(&l).reads; got != reads {
			t.Errorf("%s only reads: %v", command, got)
		}
	}
}
