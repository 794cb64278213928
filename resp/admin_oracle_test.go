package resp

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/settings"
)

// adminScript is run on Redis and on Ringside; the replies must be equal. A line is a
// command of words; ” is an empty word, ~ in a word a space.
const adminScript = `
PING
PING hello
PING a b
ECHO hello
ECHO
SELECT 0
SELECT 99
SELECT -1
SELECT abc
SELECT 99999999999
SELECT
CLIENT
CLIENT nosuch
CLIENT ID x
CLIENT INFO x
CLIENT GETNAME
CLIENT SETNAME a~b
CLIENT SETNAME abc
CLIENT GETNAME
CLIENT SETNAME ''
CLIENT GETNAME
CLIENT LIST TYPE nosuch
CLIENT LIST TYPE normal extra
CLIENT LIST TYPE
CLIENT LIST TYPE master
CLIENT LIST TYPE replica
CLIENT LIST TYPE SLAVE
CLIENT LIST TYPE pubsub
CLIENT LIST ID
CLIENT LIST ID abc
CLIENT LIST ID 0
CLIENT LIST ID 999999 -5
CLIENT LIST nosuch
CLIENT KILL 1.2.3.4:5
CLIENT KILL nosuch
CLIENT KILL ID 0
CLIENT KILL ID -1
CLIENT KILL ID abc
CLIENT KILL ID 999999
CLIENT KILL TYPE nosuch
CLIENT KILL TYPE master
CLIENT KILL USER nosuch
CLIENT KILL SKIPME maybe
CLIENT KILL nosuch x
CLIENT KILL ID 1 ADDR
CLIENT KILL ADDR 1.1.1.1:1 LADDR 1.1.1.1:1 USER default SKIPME yes TYPE normal
CLIENT KILL ID 999999 SKIPME no
CLIENT PAUSE
CLIENT PAUSE abc
CLIENT PAUSE -1
CLIENT PAUSE 99999999999999999999
CLIENT PAUSE 1 nosuch
CLIENT PAUSE abc nosuch
CLIENT PAUSE 1 write x
CLIENT UNPAUSE
CLIENT UNPAUSE x
CLIENT REPLY nosuch
CLIENT REPLY ON
CLIENT REPLY ON x
CLIENT NO-EVICT nosuch
CLIENT NO-EVICT ON
CLIENT NO-EVICT off
CONFIG
CONFIG nosuch
CONFIG GET
CONFIG GET nosuch
CONFIG GET maxclients
CONFIG GET MAXCLIENTS
CONFIG GET save appendonl[x]
CONFIG GET timeout timeout time[o]ut
CONFIG GET maxmemory-policy
CONFIG GET requirepass
CONFIG GET tcp-keepalive
CONFIG GET slowlog-max-len
CONFIG GET cluster-enabled
CONFIG GET proto-max-bulk-len
CONFIG SET
CONFIG SET maxclients
CONFIG SET nosuch 1
CONFIG SET timeout 1 nosuch 1
CONFIG SET timeout 1 maxclients
CONFIG SET timeout 1 TIMEOUT 2
CONFIG SET maxclients abc
CONFIG SET timeout -1
CONFIG SET timeout abc
CONFIG SET timeout 9999999999
CONFIG SET timeout 77 maxclients abc
CONFIG GET timeout
CONFIG SET timeout 77 slowlog-max-len 5
CONFIG GET timeout
CONFIG GET slowlog-max-len
CONFIG SET timeout 0 slowlog-max-len 128
CONFIG SET slowlog-log-slower-than -2
CONFIG SET slowlog-log-slower-than 1.5
CONFIG SET slowlog-log-slower-than 9223372036854775807
CONFIG SET slowlog-log-slower-than -1
CONFIG GET slowlog-log-slower-than
CONFIG SET slowlog-log-slower-than 10000
CONFIG GET slowlog-log-slower-than
CONFIG SET proto-max-bulk-len 1xx
CONFIG SET proto-max-bulk-len -1
CONFIG SET proto-max-bulk-len 2mb
CONFIG GET proto-max-bulk-len
CONFIG SET proto-max-bulk-len 3M
CONFIG GET proto-max-bulk-len
CONFIG SET proto-max-bulk-len 512MB
CONFIG SET client-output-buffer-limit nosuch
CONFIG SET client-output-buffer-limit normal~1~2
CONFIG SET client-output-buffer-limit nosuch~1~0~0
CONFIG SET client-output-buffer-limit normal~1~x~3
CONFIG SET client-output-buffer-limit normal~1mb~0~0
CONFIG SET databases 3
CONFIG SET cluster-enabled yes
CONFIG RESETSTAT x
CONFIG RESETSTAT
INFO nosuch
INFO nosuch nosuch2
INFO modules
INFO cluster
INFO Keyspace
INFO modules CLUSTER
SLOWLOG
SLOWLOG nosuch
SLOWLOG GET abc
SLOWLOG GET -2
SLOWLOG GET 1 2
SLOWLOG LEN x
SLOWLOG RESET
SLOWLOG RESET x
SLOWLOG GET
SLOWLOG GET 5
SLOWLOG GET -1
SLOWLOG LEN
SHUTDOWN nosuch
SHUTDOWN ABORT
SHUTDOWN abort
SHUTDOWN NOSAVE SAVE
SHUTDOWN NOSAVE ABORT
SHUTDOWN ABORT NOW
SHUTDOWN SAVE NOW FORCE ABORT
SHUTDOWN a b c d e
MONITOR x
TIME x
LASTSAVE x
DEBUG
AUTH
AUTH a
AUTH a b c
AUTH nosuch b
AUTH default anything
HELLO 4
HELLO 1
HELLO x
HELLO 3 nosuch
HELLO 2 SETNAME a~b
HELLO 2 AUTH
HELLO 2 AUTH a
HELLO 2 AUTH nosuch b
HELLO 2 SETNAME
QUIT~x
nosuch a b
RESET x
`

func TestAdminAgainstRedis(t *testing.T) {
	real := redistest.Start7(t)
	_, ours := serveTest(t, func(c *Config, _ *serveStore) {
		c.Settings = settings.Default()
		c.Settings.KeepAlive = defaultKeepAlive
	})
	for proto := 2; proto <= 3; proto++ {
		a, b := resptest.Dial(t, real, proto), resptest.Dial(t, ours, proto)
		for line := range strings.Lines(adminScript) {
			args := scriptWords(line)
			if len(args) == 0 {
				continue
			}
			want, got := a.Do(args...).String(), b.Do(args...).String()
			if want != got {
				t.Errorf("RESP%d %q:\n got %s\nwant %s", proto, args, got, want)
			}
		}
	}
}

// scriptWords splits a line of a script.
func scriptWords(line string) []string {
	words := strings.Fields(line)
	for i, w := range words {
		if w == "''" {
			w = ""
		}
		words[i] = strings.ReplaceAll(w, "~", " ")
	}
	return words
}

// TestStreamsAgainstRedis compares whole streams of replies: commands that decide
// whether others are answered. The commands of a line are sent in one go.
func TestStreamsAgainstRedis(t *testing.T) {
	real := redistest.Start7(t)
	_, ours := serveTest(t, func(c *Config, _ *serveStore) { c.Settings = settings.Default() })
	for _, script := range []string{
		"PING | QUIT | PING",
		"QUIT a b c",
		"CLIENT REPLY OFF | PING | SET a 1 | GET a | CLIENT REPLY ON | PING | QUIT",
		"CLIENT REPLY SKIP | PING | ECHO a | ECHO b | QUIT",
		"CLIENT REPLY SKIP | CLIENT REPLY SKIP | ECHO a | ECHO b | QUIT",
		"CLIENT REPLY SKIP | SET a 1 | SET a 2 | GET a | CLIENT REPLY SKIP | GET a | GET a | QUIT",
		"CLIENT REPLY SKIP | nosuch | ECHO b | QUIT",
		"CLIENT REPLY SKIP | CLIENT REPLY OFF | ECHO a | CLIENT REPLY ON | QUIT",
		"CLIENT REPLY OFF | CLIENT REPLY SKIP | PING | ECHO a | CLIENT REPLY ON | ECHO b | QUIT",
		"CLIENT REPLY OFF | RESET | PING | QUIT",
		"CLIENT REPLY SKIP | RESET | PING | QUIT",
		"HELLO 3 | CLIENT GETNAME | RESET | CLIENT GETNAME | QUIT",
		"CLIENT SETNAME x | CLIENT GETNAME | RESET | CLIENT GETNAME | QUIT",
		"CLIENT KILL TYPE normal SKIPME no | PING",
	} {
		want, got := stream(t, real, script), stream(t, ours, script)
		// What HELLO says of the connection differs.
		if want, got = withoutID(want), withoutID(got); want != got {
			t.Errorf("%s\n got %q\nwant %q", script, got, want)
		}
	}
}
