package resp

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
	"github.com/ringside-kv/ringside/store"
)

// policyOrders carries out changes of policies on the only node.
type policyOrders struct {
	orderLog
	r *routed
}

func (o *policyOrders) Policies() (PolicyChanger, error) {
	_ = o.note("policies")
	return o, nil
}

func (o *policyOrders) Describe(n, data int) string {
	return "policy:" + o.r.servers[0].policies().Of(n).String() + "\r\n"
}

func (o *policyOrders) Begin(_ context.Context, n int) (uint64, error) {
	p := o.r.servers[0].policies().Of(n)
	p.Change = 9
	o.set(p)
	return 9, nil
}

func (o *policyOrders) End(_ context.Context, _ uint64, p database.Policy) error {
	if p.Change != 0 {
		p, p.Change = o.r.servers[0].policies().Of(p.Number), 0
	}
	o.set(p)
	return o.err
}

func (o *policyOrders) Move(_ context.Context, _ int, _, keys bool) (bool, error) {
	if keys {
		return true, errors.New("there is no cluster")
	}
	return false, nil
}
func (o *policyOrders) PauseMove(context.Context, int) (uint64, error) { return 0, nil }
func (o *policyOrders) ResumeMove(context.Context, int, uint64) error  { return nil }
func (o *policyOrders) Leads() bool                                    { return true }
func (o *policyOrders) Rate() int64                                    { return 0 }

func (o *policyOrders) set(p database.Policy) {
	srv := o.r.servers[0]
	was := srv.routes.Load()
	srv.SetRoutes(&Routes{Placement: was.Placement, Self: was.Self, Nodes: was.Nodes, Policies: was.Policies.With(p)})
}

// The bytes of a client's key never count as the head of a stored key, not in commands that are
// refused either.
func TestKeyThatLooksStoredIsMovedWithinItsDatabase(t *testing.T) {
	r := routedTestWith(t, 1, func(c *Config, _ *store.Config) {})
	r.placeAll(r.all(0))
	c := resptest.Dial(t, r.addrs[0], 2)
	key := string(database.AppendKey(nil, (&database.Policies{}).With(database.Policy{Number: 2, Together: true}).Head(2), []byte("k")))
	for _, db := range []string{"0", "2", "3"} {
		c.Want("+OK", "SELECT", db)
		c.Want("-ERR source and destination objects are the same", "MOVE", key, db)
		got := c.Do("EVAL", "return redis.call('MOVE', KEYS[1], ARGV[1])", "1", key, db).String()
		if !strings.HasPrefix(got, "-ERR source and destination objects are the same") {
			t.Errorf("in database %s: %s", db, got)
		}
	}
}

// The policy of a database is not changed while an earlier request for its keys runs.
func TestPolicyChangeWaitsForEarlierRequests(t *testing.T) {
	randomtest.Draw(t, 4)
	o := new(policyOrders)
	r := routedTestWith(t, 1, func(c *Config, _ *store.Config) { c.Operator = o })
	o.r = r
	r.placeAll(r.all(0))
	admin, scripted := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[0], 2)
	scripted.Want("+OK", "SELECT", "3")
	srv := r.servers[0]
	script := "while redis.call('GET', KEYS[1]) ~= 'x' do end"
	if _, err := scripted.C.Write(resptest.EncodeCommands([][]string{{"EVAL", script, "1", "k"}})); err != nil {
		t.Fatal(err)
	}
	resptest.WaitFor(t, "the script to run", func() bool {
		return srv.scripts.Any(func(*scripts.Run) bool { return true })
	})
	if got := admin.Do("RING", "DATABASE", "3", "TOGETHER").String(); !strings.HasPrefix(got, "-TRYAGAIN ") {
		t.Errorf("while a script runs: %s", got)
	}
	admin.Want("$policy:spread\r\nkeys:0\r\nbytes:0\r\nquota:0\r\nquota_policy:none\r\n", "RING", "DATABASE", "3")
	admin.Want("+OK", "SCRIPT", "KILL")
	admin.Want("+OK", "RING", "DATABASE", "3", "TOGETHER")
	admin.Want("$policy:together\r\nkeys:0\r\nbytes:0\r\nquota:0\r\nquota_policy:none\r\n", "RING", "DATABASE", "3")
	admin.Want("-ERR RING DATABASE takes TOGETHER or SPREAD, or QUOTA with a number of bytes and POLICY with a name", "RING", "DATABASE", "3", "TOGETHER", "NOW")
	admin.Want("-ERR DB index is out of range", "RING", "DATABASE", "16")
	admin.Want("+OK", "SELECT", "3")
	admin.Want("+OK", "MSET", "a", "1", "b", "2")
	admin.Want("-ERR database 3 holds 2 keys, which cannot be moved: there is no cluster", "RING", "DATABASE", "3", "SPREAD")
	admin.Want("*($1 $2)", "MGET", "a", "b")
	if got := admin.Do("INFO", "databases").String(); !strings.Contains(got, "\r\ndatabase_3:policy=together,keys=2,expires=0,bytes=") {
		t.Errorf("%s", got)
	}
}

// A client that comes before the node knows how many databases there are waits for that.
func TestSelectWaitsForTheNumberOfDatabases(t *testing.T) {
	var known atomic.Int64
	asked := make(chan struct{}, 1)
	r := routedTestWith(t, 1, func(c *Config, _ *store.Config) {
		c.Databases = func() int {
			if known.Load() == 0 {
				select {
				case asked <- struct{}{}:
				default:
				}
			}
			return int(known.Load())
		}
	})
	r.placeAll(r.all(0))
	o := resptest.Dial(t, r.addrs[0], 2)
	pipeline := [][]string{{"SET", "a", "1"}, {"SELECT", "4"}, {"MULTI"}, {"SELECT", "5"}, {"SET", "b", "1"}, {"EXEC"}, {"COPY", "b", "b", "DB", "6"}, {"DBSIZE"}}
	if _, err := o.C.Write(resptest.EncodeCommands(pipeline)); err != nil {
		t.Fatal(err)
	}
	<-asked
	known.Store(8)
	r.placeAll(r.all(0))
	for _, want := range []string{"+OK", "+OK", "+OK", "+QUEUED", "+QUEUED", "*(+OK +OK)", ":1", ":1"} {
		if got := o.Next().String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	o.Want("-ERR DB index is out of range", "SELECT", "8")
}
