package rehome

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/wire"
)

const (
	// drainTimeout is how long a step waits for requests that run, and holds others.
	drainTimeout = 2 * time.Second
	// lookTimeout is how long owners may look for keys, while none waits.
	lookTimeout = 5 * time.Minute
	// orderKeys is how many keys an order names at the most.
	orderKeys = 64
	// FetchBytes is how large an order or its reply is, but for a single key.
	FetchBytes = 512 << 10
)

// A Remote sends the orders of a driver to the owners of keys. It implements [Cluster].
type Remote struct {
	Data int
	// Policies are those by which the node goes.
	Policies func() *database.Policies
	// Values are the agreed values by which the node goes. newer is closed once there are others.
	Values func() (values *agreed.Values, newer <-chan struct{})
	// Change has the cluster accept a change of an agreed value.
	Change func(ctx context.Context, c agreed.Change) error
	// Ask has a request executed by the one node that owns its keys. msg is an error reply: CrossSlot if several nodes
	// own them.
	Ask       func(raw []byte) (reply []byte, msg string)
	CrossSlot string
	// All has each node execute a command for the keys that it owns.
	All func(timeout time.Duration, words [][]byte) (replies [][]byte, err error)
	// Owner tells the owners of stored keys from each other.
	Owner func(stored []byte) int
	Leads func() bool
	Limit func() int64
}

func (r *Remote) kept() (kept database.Kept, version uint64, newer <-chan struct{}) {
	values, newer := r.Values()
	value := values.Of(database.PolicyName(r.Data))
	kept, _ = database.ParseKept(value.Body)
	return kept, value.Version, newer
}

// View implements Cluster.
func (r *Remote) View() (database.Kept, uint64, bool) {
	kept, version, _ := r.kept()
	return kept, version, r.Leads()
}

// Rate implements Cluster.
func (r *Remote) Rate() int64 { return r.Limit() }

// Agree implements Cluster.
func (r *Remote) Agree(ctx context.Context, next database.Kept, version uint64) error {
	if err := r.Change(ctx, agreed.Change{Name: database.PolicyName(r.Data), Body: next.Body(), Was: version}); err != nil {
		return err
	}
	return r.await(ctx, func(_ database.Kept, now uint64) bool { return now != version })
}

// await waits until the policy by which the node goes is as it should be.
func (r *Remote) await(ctx context.Context, is func(kept database.Kept, version uint64) bool) error {
	for {
		kept, version, newer := r.kept()
		if is(kept, version) {
			return nil
		}
		select {
		case <-newer:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Paused returns once this node and all owners go by the step of a pause, and run nothing that began before.
func (r *Remote) Paused(ctx context.Context, pause uint64) error {
	if err := r.await(ctx, func(kept database.Kept, _ uint64) bool { return kept.Step >= pause }); err != nil {
		return err
	}
	return r.Drained(pause)
}

// all has each node execute RING and some words, behind the first of which the data stands.
func (r *Remote) all(timeout time.Duration, verb string, step uint64, rest ...string) ([][]byte, error) {
	words := [][]byte{[]byte("RING"), []byte(verb), strconv.AppendInt(nil, int64(r.Data), 10), strconv.AppendUint(nil, step, 10)}
	for _, word := range rest {
		words = append(words, []byte(word))
	}
	return r.All(timeout, words)
}

// Drained implements Cluster.
func (r *Remote) Drained(step uint64) error {
	_, err := r.all(drainTimeout, "DRAINED", step)
	return err
}

// The questions of RING STRIDE.
const (
	askPlan    = "PLAN"
	askKeys    = "KEYS"
	askGarbage = "GARBAGE"
)

// Plan implements Cluster.
func (r *Remote) Plan(step uint64) (uint64, error) {
	replies, err := r.all(lookTimeout, "STRIDE", step, askPlan)
	until := int64(database.End)
	for _, reply := range replies {
		if n, ok := wire.ReplyInt(reply); ok {
			until = min(until, n)
		}
	}
	return uint64(until), err
}

// Keys implements Cluster.
func (r *Remote) Keys(step uint64) ([][]byte, error) { return r.list(drainTimeout, step, askKeys) }

// Garbage implements Cluster.
func (r *Remote) Garbage(step uint64) ([][]byte, error) { return r.list(lookTimeout, step, askGarbage) }

func (r *Remote) list(timeout time.Duration, step uint64, what string) (found [][]byte, err error) {
	replies, err := r.all(timeout, "STRIDE", step, what)
	for _, reply := range replies {
		for rest, _ := wire.ArrayBody(reply); len(rest) > 0; rest = rest[wire.ValueLen(rest):] {
			if key, ok := wire.ReplyText(rest); ok {
				found = append(found, key)
			}
		}
	}
	return found, err
}

// order sends an order about the keys with which words begin, each so many words. answered returns how many of the keys
// that a part of the order has named are done with.
func (r *Remote) order(step uint64, verb string, words [][]byte, each int, answered func(n int, reply []byte) int) error {
	head := []string{"RING", verb, strconv.Itoa(r.Data), strconv.FormatUint(step, 10)}
	for most := orderKeys; len(words) > 0; {
		n, size := 0, 0
		for n < min(most, len(words)/each) && (n == 0 || size < FetchBytes) {
			for _, word := range words[n*each : (n+1)*each] {
				size += len(word)
			}
			n++
		}
		raw := wire.AppendArray(make([]byte, 0, size+n*each*16+64), len(head)+n*each)
		for _, word := range head {
			raw = wire.AppendBulkString(raw, word)
		}
		for _, word := range words[:n*each] {
			raw = wire.AppendBulk(raw, word)
		}
		reply, msg := r.Ask(raw)
		switch {
		case msg == r.CrossSlot && n > 1:
			most = n / 2
			continue
		case msg != "":
			return errors.New(msg)
		}
		words = words[answered(n, reply)*each:]
		most = min(2*most, orderKeys)
	}
	return nil
}

func allAnswered(n int, _ []byte) int { return n }

// Drop implements Cluster.
func (r *Remote) Drop(step uint64, stored [][]byte) error {
	return r.order(step, "DROP", r.byOwner(stored, 1), 1, allAnswered)
}

// Copy implements Cluster.
func (r *Remote) Copy(step uint64, stored [][]byte) (size int64, err error) {
	head := r.Policies().Of(r.Data).Head()
	var copies [][]byte
	var failed error
	held := 0
	place := func() error {
		err := r.order(step, "PLACE", r.byOwner(copies, 2), 2, allAnswered)
		copies, held = nil, 0
		return err
	}
	left := r.byOwner(stored, 1)
	err = r.order(step, "FETCH", left, 1, func(_ int, reply []byte) int {
		n := 0
		for rest, _ := wire.ArrayBody(reply); len(rest) > 0 && n < len(left); rest = rest[wire.ValueLen(rest):] {
			if fetched, ok := wire.ReplyText(rest); ok {
				copies = append(copies, database.AppendKey(nil, head, database.Name(left[n])), bytes.Clone(fetched))
				held += len(fetched)
				size += int64(len(fetched))
			}
			n++
		}
		left = left[n:]
		if held > FetchBytes && failed == nil {
			failed = place()
		}
		return n
	})
	if failed != nil || err != nil {
		return size, errors.Join(failed, err)
	}
	return size, place()
}

// byOwner sorts keys, each with the words behind it, by their owners, so that few orders name keys of several.
func (r *Remote) byOwner(words [][]byte, each int) [][]byte {
	groups := slices.Collect(slices.Chunk(words, each))
	slices.SortStableFunc(groups, func(a, b [][]byte) int { return cmp.Compare(r.Owner(a[0]), r.Owner(b[0])) })
	return slices.Concat(groups...)
}

// Order has the server at the other end of a connection drive a move: RING REHOME.
func Order(ctx context.Context, c net.Conn, data int) error {
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if _, err := c.Write(wire.AppendRequest(nil, "RING", "REHOME", strconv.Itoa(data))); err != nil {
		return err
	}
	reply, err := wire.NewReplyReader(c).Read()
	if err != nil {
		return err
	}
	if text, err := reply.Joined(); err != nil || text != "OK" {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

// Until returns a context that ends with one of two channels. Its goroutine ends with cancel.
func Until(gone, stop <-chan struct{}) (ctx context.Context, cancel func()) {
	ctx, end := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		defer end()
		select {
		case <-gone:
		case <-stop:
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		end()
		done.Wait()
	}
}
