package acts

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/resp/wire"
)

const (
	repetitions   = 1000
	repeatClients = 4
	repeatLimit   = 300 << 20 // bytes of memory
	largeBytes    = 256 << 10
	largeMembers  = 1000
)

// largeCommands build or take the most that a command can with the values of makeLarge.
var largeCommands = []string{
	"SET copy @", "APPEND copy x", "GETSET copy @", "GETDEL copy", "SETRANGE wide 4000000 @", "GETRANGE string 0 -1", "MGET string string string string",
	"MSET {m}a @ {m}b @ {m}c @", "STRLEN string", "GET string", "SETBIT bits 33554431 1", "BITCOUNT string", "BITPOS string 0",
	"BITFIELD bits SET u8 #4000000 255 GET u8 0", "BITOP NOT {s}not {s}string", "BITOP XOR {s}xor {s}string {s}string",
	"PFADD hll @", "PFMERGE hll hll", "LCS {s}short {s}short2 IDX", "LCS {s}string {s}string",
	"COPY {s}string {s}copy REPLACE", "DUMP string", "DUMP zset", "OBJECT ENCODING string", "RENAME {s}copy {s}renamed",
	"LRANGE list 0 -1", "LPUSH pushed @", "LTRIM pushed 0 9", "LINSERT list AFTER none x", "LREM list 0 none", "LPOS list none RANK -1",
	"LPOP pushed 100", "LMOVE {l}list {l}list2 LEFT RIGHT", "LMPOP 1 {l}list2 LEFT COUNT 100",
	"SMEMBERS set", "SUNIONSTORE {s}union {s}set {s}set2", "SINTERSTORE {s}inter {s}set {s}set2", "SDIFFSTORE {s}diff {s}set {s}set2", "SUNION {s}set {s}set2",
	"SRANDMEMBER set -1000", "SPOP {s}union 500", "SADD added @", "SINTERCARD 2 {s}set {s}set2",
	"HGETALL hash", "HKEYS hash", "HVALS hash", "HRANDFIELD hash -1000 WITHVALUES", "HSET added:hash f @", "HSCAN hash 0 COUNT 1000",
	"ZRANGE zset 0 -1 WITHSCORES", "ZUNIONSTORE {z}union 2 {z}zset {z}zset2", "ZINTERSTORE {z}inter 2 {z}zset {z}zset2", "ZDIFFSTORE {z}diff 2 {z}zset {z}zset2",
	"ZRANGESTORE {z}range {z}zset 0 -1", "ZRANDMEMBER zset -1000", "ZRANGEBYLEX zset - +", "ZPOPMIN {z}union 500", "ZADD added:zset 1 @",
	"SORT list ALPHA", "SORT {l}list ALPHA STORE {l}sorted", "SORT list BY nosort LIMIT 0 1000",
	"GEOSEARCHSTORE {g}near {g}geo FROMLONLAT 0 0 BYRADIUS 20000 km STOREDIST", "GEOSEARCH geo FROMLONLAT 0 0 BYRADIUS 20000 km WITHCOORD WITHDIST",
	"XRANGE stream - +", "XREVRANGE stream + -", "XADD added:stream MAXLEN 10 * f @", "XREAD STREAMS stream 0", "XINFO STREAM stream FULL COUNT 0",
	"KEYS *", "SCAN 0 COUNT 100000", "COMMAND", "COMMAND DOCS", "INFO everything", "CONFIG GET *", "CLIENT LIST", "ECHO @", "PING @", "PUBLISH nobody @",
	"EVAL return\u00a0string.rep('x',4000000) 0", "EVAL return\u00a0redis.call('SMEMBERS',KEYS[1]) 1 set", "EVAL local\u00a0t={}\u00a0for\u00a0i=1,10000\u00a0do\u00a0t[i]=i\u00a0end\u00a0return\u00a0t 0",
	"EVAL return\u00a0cjson.encode(redis.call('LRANGE',KEYS[1],0,-1)) 1 list", "SCRIPT LOAD return\u00a01", "SCRIPT FLUSH",
	"OBJECT FREQ none", "WAIT 0 0", "RESTORE {s}restored 0 $ REPLACE",
}

// repeated runs every large command many times with a memory limit. The kernel kills a node
// that takes more than it.
func repeated(ctx context.Context, s *stage) error {
	n, err := s.startLimited(ctx, repeatLimit)
	if err != nil {
		return err
	}
	pid := n.PID()
	payload, err := makeLarge(n)
	if err != nil {
		return err
	}
	if err := s.write(n, 1000, 1000); err != nil {
		return err
	}
	for _, text := range largeCommands {
		if err := repeat(ctx, n, command(text, payload)); err != nil {
			return fmt.Errorf("%.60s: %w", text, err)
		}
		if used, _, _ := cluster.ResidentMemory(n.PID()); used > repeatLimit {
			return fmt.Errorf("%.60s: the node holds %d MiB of memory", text, used>>20)
		}
	}
	if n.PID() != pid {
		return errors.New("the node was started again")
	}
	return errors.Join(s.check(n), n.Stop())
}

// command splits a command of largeCommands: @ is a large string, $ a dumped one, and a no-break space a
// space within an argument.
func command(text, payload string) [][]byte {
	var args [][]byte
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' }) {
		switch word {
		case "@":
			word = strings.Repeat("v", largeBytes)
		case "$":
			word = payload
		}
		args = append(args, []byte(strings.ReplaceAll(word, "\u00a0", " ")))
	}
	return args
}

// repeat sends a command on several connections at once. What the node replies is not looked
// at: many commands are refused by a limit.
func repeat(ctx context.Context, n *cluster.Process, args [][]byte) error {
	failed := make([]error, repeatClients)
	var all sync.WaitGroup
	for i := range failed {
		all.Go(func() {
			c, err := cluster.Dial(n.Addr)
			if err != nil {
				failed[i] = err
				return
			}
			defer c.Close()
			for range repetitions / repeatClients {
				c.Add(args...)
				if err := c.Flush(); err != nil {
					failed[i] = err
					return
				}
				if _, err := c.Strings(); broken(err) || ctx.Err() != nil {
					failed[i] = errors.Join(err, ctx.Err())
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// broken reports whether an error is of the connection, not a reply.
func broken(err error) bool { return err != nil && !errors.As(err, new(wire.ReplyError)) }

// makeLarge creates the values that the large commands use and returns a DUMP of one.
func makeLarge(n *cluster.Process) (payload string, err error) {
	c, err := cluster.Dial(n.Addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	large := strings.Repeat("s", largeBytes)
	for _, key := range []string{"string", "{s}string"} {
		if _, err := c.Do("SET", key, large); err != nil {
			return "", err
		}
	}
	for _, key := range []string{"{s}short", "{s}short2"} {
		if _, err := c.Do("SET", key, large[:2000]); err != nil {
			return "", err
		}
	}
	member := func(i int) string { return fmt.Sprintf("member:%040d", i) }
	const batch = 1000
	for from := 0; from < largeMembers; from += batch {
		for _, to := range []struct {
			command string
			keys    []string
			element func(i int) []string
		}{
			{"RPUSH", []string{"list", "{l}list", "{l}list2"}, func(i int) []string { return []string{member(i)} }},
			{"SADD", []string{"set", "{s}set", "{s}set2"}, func(i int) []string { return []string{member(i)} }},
			{"HSET", []string{"hash"}, func(i int) []string { return []string{member(i), member(i)} }},
			{"ZADD", []string{"zset", "{z}zset", "{z}zset2"}, func(i int) []string { return []string{strconv.Itoa(i), member(i)} }},
			{"GEOADD", []string{"geo", "{g}geo"}, func(i int) []string {
				return []string{strconv.Itoa(i%360 - 180), strconv.Itoa(i%170 - 85), member(i)}
			}},
		} {
			for _, key := range to.keys {
				args := []string{to.command, key}
				for i := from; i < from+batch; i++ {
					args = append(args, to.element(i)...)
				}
				if _, err := c.Do(args...); err != nil {
					return "", fmt.Errorf("%s %s: %w", to.command, key, err)
				}
			}
		}
		if _, err := c.Do("XADD", "stream", "*", "field", large[:100]); err != nil {
			return "", err
		}
	}
	return c.Do("DUMP", "string")
}
