package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/resp/internal/moment"
	"github.com/ringside-kv/ringside/resp/node/internal/backup"
	"github.com/ringside-kv/ringside/store/rdb"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// A snapshot is the strings of a backup, by key.
type snapshot map[string]string

// takeBackup reads a backup of all nodes through one of them. slow, unless it is nil, coordinates it.
func (c *virtualCluster) takeBackup(via string, slow *backup.Keeper) (*moment.Moment, snapshot, error) {
	client := c.client(via)
	defer client.Close()
	ctx := context.Background()
	text, err := "", error(nil)
	if slow == nil {
		text, err = client.Do(ctx, "RING", "BACKUP", "START").Text()
	} else {
		var reply []byte
		reply, err = slow.Command(ctx, []string{"START"}, nil)
		text = string(reply)
	}
	if err != nil {
		return nil, nil, err
	}
	m := new(moment.Moment)
	if err := json.Unmarshal([]byte(text), m); err != nil {
		return nil, nil, err
	}
	all := snapshot{}
	for _, part := range m.Parts {
		var file bytes.Buffer
		for end := false; !end; {
			text, err := client.Do(ctx, "RING", "BACKUP", "READ", m.ID, part.Node, file.Len()).Text()
			if err != nil {
				return m, nil, err
			}
			head, data, _ := strings.Cut(text, "\n")
			var a struct{ End bool }
			if err := json.Unmarshal([]byte(head), &a); err != nil {
				return m, nil, err
			}
			end = a.End
			file.WriteString(data)
		}
		if err := all.add(&file); err != nil {
			return m, nil, fmt.Errorf("part of %s: %w", part.Node, err)
		}
		if err := client.Do(ctx, "RING", "BACKUP", "STOP", m.ID, part.Node).Err(); err != nil {
			return m, nil, err
		}
	}
	return m, all, nil
}

// export reads an export of all nodes through one of them.
func (c *virtualCluster) export(via string) (*moment.Moment, snapshot, error) {
	var file bytes.Buffer
	m, err := importer.Export(context.Background(), &file, importer.ExportConfig{Source: client.Config{
		Addrs: []string{c.nodes[via].ip + ":6379"}, Timeout: time.Minute,
		Dial: func(ctx context.Context, addr string) (net.Conn, error) {
			return c.net.Host("10.0.1.1").Dial(ctx, addr)
		},
	}})
	if err != nil {
		return nil, nil, err
	}
	all := snapshot{}
	return m, all, all.add(&file)
}

// add adds the keys of an RDB file, of which it must have none yet.
func (s snapshot) add(file io.Reader) error {
	r := rdbfile.NewReader(file, rdbfile.Config{})
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e.Kind != rdbfile.Key {
			continue
		}
		v, err := rdb.Decode(e.Payload, 1<<20)
		if _, twice := s[string(e.Key)]; err != nil || twice {
			return fmt.Errorf("key %q twice, or %w", e.Key, err)
		}
		s[string(e.Key)] = string(v.Bytes)
	}
}

func (s snapshot) number(key string) int {
	n, _ := strconv.Atoi(s[key])
	return n
}

// A trade is load whose backups can be checked: money moves between the accounts of each bank by scripts, and
// each worker counts at one node after the other.
type trade struct {
	banks  []bank
	chains [][]string // keys of each worker, at several nodes
	done   sync.WaitGroup
	stop   context.CancelFunc
}

const moveMoney = `redis.call('INCRBY', KEYS[1], -ARGV[1]) redis.call('INCRBY', KEYS[2], ARGV[1]) return 1`

func (c *virtualCluster) trade(seed uint64, workers int) *trade {
	c.t.Helper()
	tr := new(trade)
	first := c.client("a")
	defer first.Close()
	for i := range 6 {
		b := bank{fmt.Sprint("bank", i)}
		tr.banks = append(tr.banks, b)
		for _, key := range b.all() {
			if err := first.Set(context.Background(), key, deposit, 0).Err(); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	ids := c.running()
	var ctx context.Context
	ctx, tr.stop = context.WithCancel(context.Background())
	for w := range workers {
		rnd := rand.New(rand.NewPCG(seed, uint64(w)))
		var chain []string
		for _, i := range rnd.Perm(len(ids)) {
			chain = append(chain, fmt.Sprintf("{%s}count%d", c.ownKey(ids[i]), w))
		}
		tr.chains = append(tr.chains, chain)
		via := ids[w%len(ids)]
		tr.done.Go(func() {
			client := c.client(via)
			defer client.Close()
			for n := 1; ctx.Err() == nil; n++ {
				b := tr.banks[rnd.IntN(len(tr.banks))]
				from := rnd.IntN(accounts)
				to := (from + 1 + rnd.IntN(accounts-1)) % accounts
				_ = client.Eval(ctx, moveMoney, []string{b.account(from), b.account(to)}, 1+rnd.IntN(9)).Err()
				for _, key := range chain {
					for ctx.Err() == nil && client.Set(ctx, key, n, 0).Err() != nil { // twice is the same as once
						time.Sleep(20 * time.Millisecond)
					}
				}
			}
		})
	}
	return tr
}

func (tr *trade) end() {
	tr.stop()
	tr.done.Wait()
}

// fault says what in a backup cannot have been at one moment, or "".
func (tr *trade) fault(s snapshot) string {
	for _, b := range tr.banks {
		sum := 0
		for _, key := range b.all() {
			sum += s.number(key)
		}
		if sum != accounts*deposit {
			return fmt.Sprintf("bank %s has %d", b.tag, sum)
		}
	}
	for _, chain := range tr.chains {
		last := s.number(chain[0])
		for i, key := range chain {
			if n := s.number(key); n > last || n < s.number(chain[0])-1 {
				return fmt.Sprintf("counter %d of %v is %d behind %d", i, chain, n, last)
			}
			last = s.number(key)
		}
	}
	return ""
}

// slowCoordinator returns a coordinator whose messages take up to 40 ms, so that nodes do not hold at one time by
// chance.
func (c *virtualCluster) slowCoordinator() *backup.Keeper {
	return backup.New(backup.Config{
		Self: "nobody", State: c.nodes["a"].cluster.table.State,
		Ask: func(ctx context.Context, node string, message []byte) ([]byte, error) {
			time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
			return c.nodes[node].cluster.backups.Answer(ctx, message), nil
		},
	})
}

// TestBackupIsOfOneMoment takes backups and exports under load, also while ranges move and nodes crash: each is of
// one moment, or an error. Pauses stay short.
func TestBackupIsOfOneMoment(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 3, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.backed()
		tr := c.trade(seed, 4)
		time.Sleep(200 * time.Millisecond)
		var slow *backup.Keeper
		exports := false // every other one
		check := func(via string) (pause float64, err error) {
			t.Helper()
			var m *moment.Moment
			var s snapshot
			if exports = !exports && slow == nil; exports {
				m, s, err = c.export(via)
			} else {
				m, s, err = c.takeBackup(via, slow)
			}
			if err != nil {
				return 0, err
			}
			if fault := tr.fault(s); fault != "" {
				t.Errorf("through %s, pause of %.1f ms: %s", via, m.PauseMS, fault)
			}
			return m.PauseMS, nil
		}
		for i := range 4 {
			if pause, err := check([]string{"a", "b", "c"}[i%3]); err != nil || pause > 50 {
				t.Errorf("a pause of %.1f ms, %v", pause, err)
			}
		}
		slow = c.slowCoordinator()
		for range 6 {
			if pause, err := check("b"); err != nil || pause > 100 {
				t.Errorf("slowly: a pause of %.1f ms, %v", pause, err)
			}
		}
		slow = nil
		c.start("d", "a") // ranges change hands
		for range 4 {
			if _, err := check("b"); err != nil {
				c.say("with a move: %v", err)
			}
		}
		c.settled()
		c.inSync(1)
		var taken sync.WaitGroup
		whole := 0
		taken.Go(func() {
			for range 6 {
				if _, err := check("a"); err != nil {
					c.say("with a crash: %v", err)
				} else {
					whole++
				}
			}
		})
		time.Sleep(time.Duration(1+c.rnd.IntN(60)) * time.Millisecond)
		c.crash("c")
		taken.Wait()
		if whole == 0 {
			t.Error("no backup after the failover")
		}
		tr.end()
		// The last connection of a client ends, and those of another one that still has one.
		orphan, alive := c.client("a"), c.client("a")
		start := func(client *redis.Client) (m moment.Moment) {
			text, err := client.Do(context.Background(), "RING", "BACKUP", "START").Text()
			if err = errors.Join(err, json.Unmarshal([]byte(text), &m)); err != nil {
				t.Error(err)
			}
			return m
		}
		first, second := start(orphan), start(alive)
		if len(first.Parts) == 0 || len(second.Parts) == 0 {
			t.FailNow()
		}
		other := c.client("b")
		defer other.Close()
		renew := func(m moment.Moment, n int) error {
			return other.Do(context.Background(), "RING", "BACKUP", "RENEW", m.ID, m.Parts[n].Node).Err()
		}
		if err := errors.Join(orphan.Close(), renew(second, 0), alive.Close()); err != nil {
			t.Error(err)
		}
		for range 6 {
			time.Sleep(time.Second)
			if err := renew(second, 0); err != nil {
				t.Errorf("renewed by another connection: %v", err)
			}
		}
		for n := range first.Parts {
			if err := renew(first, n); err == nil || !strings.Contains(err.Error(), "the client of the backup was gone") {
				t.Errorf("without a client: %v", err)
			}
		}
		c.close()
	})
}

// TestHoldOfBackupEndsByItself has a coordinator that never comes back, and one whose client does not.
func TestHoldOfBackupEndsByItself(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.start("a")
		c.settled()
		keeper := c.nodes["a"].cluster.backups
		ask := func(verb string) (a struct {
			Error string
			Again bool
		}) {
			t.Helper()
			reply := keeper.Answer(t.Context(), []byte(`{"verb":"`+verb+`","id":"x","hold_ms":60000}`))
			if err := json.Unmarshal(bytes.TrimSuffix(reply, []byte("\n")), &a); err != nil {
				t.Fatal(err)
			}
			return a
		}
		c.ask("a", "SET", "k", "1")
		if a := ask("hold"); a.Error != "" {
			t.Fatal(a.Error)
		}
		if a := ask("read"); !strings.Contains(a.Error, "does not have the backup") {
			t.Errorf("read while writes are held: %q", a.Error)
		}
		began := time.Now()
		if got := c.ask("a", "GET", "k"); got != "1" || time.Since(began) > 100*time.Millisecond {
			t.Errorf("a read: %q after %v", got, time.Since(began))
		}
		c.ask("a", "SET", "k", "2")
		if took := time.Since(began); took < 400*time.Millisecond || took > 600*time.Millisecond {
			t.Errorf("a write waited for %v", took)
		}
		if a := ask("release"); !a.Again || !strings.Contains(a.Error, "could not hold writes") {
			t.Errorf("a late release: %+v", a)
		}
		// Pins without a reader.
		client := c.client("a")
		defer client.Close()
		text, err := client.Do(t.Context(), "RING", "BACKUP", "START").Text()
		if err != nil {
			t.Fatal(err)
		}
		var m moment.Moment
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			time.Sleep(20 * time.Second)
			if err := client.Do(t.Context(), "RING", "BACKUP", "RENEW", m.ID, "a").Err(); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(40 * time.Second)
		for _, test := range []struct {
			args []any
			want string
		}{
			{[]any{"READ", m.ID, "a", 0}, "does not have the backup any more"},
			{[]any{"RENEW", m.ID, "a"}, "does not have the backup any more"},
			{[]any{"READ", m.ID, "b", 0}, "does not answer"},
			{[]any{"READ", m.ID, "a", "x"}, "is not an offset"},
			{[]any{"READ", m.ID}, "RING BACKUP takes START"},
			{[]any{"1"}, "RING BACKUP takes START"},
		} {
			err := client.Do(t.Context(), append([]any{"RING", "BACKUP"}, test.args...)...).Err()
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v: %v, want %q", test.args, err, test.want)
			}
		}
		// Many at once, then none more.
		for i := range 5 {
			err := client.Do(t.Context(), "RING", "BACKUP", "START").Err()
			if (err != nil) != (i == 4) {
				t.Errorf("backup %d: %v", i, err)
			}
		}
		_, s, err := c.takeBackup("a", nil)
		if err == nil {
			t.Errorf("one more: %v", s)
		}
		time.Sleep(40 * time.Second)
		if _, s, err := c.takeBackup("a", nil); err != nil || !maps.Equal(s, snapshot{"k": "2"}) {
			t.Errorf("%v, %v", s, err)
		}
		c.close()
	})
}
