package resp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/keyspace"
	"github.com/ringside-kv/ringside/resp/internal/quota"
	"github.com/ringside-kv/ringside/resp/internal/rehome"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// cmdRingDatabases is RING DATABASES [count]: it says how many databases there are, or raises that.
func cmdRingDatabases(x *call) {
	if len(x.Args) == 2 {
		x.Int(int64(x.Databases()))
		return
	}
	n, err := strconv.Atoi(string(x.Args[2]))
	if err != nil || n < 1 || n > database.Limit || len(x.Args) > 3 {
		x.Error("ERR " + string(command.Shown(x.Args[2], 40)) + " is not a number of databases from 1 to " + strconv.Itoa(database.Limit))
		return
	}
	order(x, func(ctx context.Context, o Operator) error { return o.Databases(ctx, n) })
}

// cmdRingFormat is RING FORMAT [LATEST]: it tells in which form new data is written, or has the nodes agree on the latest.
func cmdRingFormat(x *call) {
	switch chunks := x.srv.settings.Chunks.Load(); {
	case len(x.Args) == 2:
		x.BulkString(admin.FormatOf(chunks))
	case len(x.Args) > 3 || !wire.EqualFold(x.Args[2], "latest"):
		x.Error(command.MsgSyntax)
	case chunks:
		x.OK()
	default:
		order(x, func(ctx context.Context, o Operator) error {
			_, err := o.Agree(ctx, agreed.LatestForms())
			if errors.Is(err, agreed.ErrChanged) {
				return nil // another client was first
			}
			return err
		})
	}
}

// drainTimeout is how long a change of a policy waits for requests that run, and holds others.
const drainTimeout = 2 * time.Second

// cmdRingDatabase is RING DATABASE n [TOGETHER|SPREAD|QUOTA …|POLICY …]: it describes the policy of a database and
// its quota, or changes them.
//
// The table notes the change, all nodes hold requests for keys of the database and count its keys, and only
// if there is none the table gets the new policy: see the invariant of table.SetPolicy. Else the nodes agree that the
// keys move (package rehome), before the change ends.
func cmdRingDatabase(x *call) {
	n, err := strconv.Atoi(string(x.Args[2]))
	if err != nil || n < 0 || n >= x.Databases() {
		x.Error(command.MsgNoDatabase)
		return
	}
	if x.srv.routes.Load() == nil {
		x.Error("ERR this node is not part of a cluster")
		return
	}
	changer, ok := policyChanger(x)
	if !ok {
		return
	}
	want := database.Policy{Number: x.srv.policies().Data(n)}
	switch {
	case len(x.Args) == 3:
		var held keyspace.Count
		if all := x.keyspaces(); n < len(all) {
			held = all[n]
		}
		x.BulkString(fmt.Sprintf("%skeys:%d\r\nbytes:%d\r\n%s", changer.Describe(n, want.Number), held.Keys, held.Bytes, x.srv.quota.LimitOf(n).Describe()))
		return
	case len(x.Args) == 4 && wire.EqualFold(x.Args[3], "together"):
		want.Together = true
	case len(x.Args) > 4 || !wire.EqualFold(x.Args[3], "spread"):
		change, msg := quota.ParseOrder(x.Args[3:], x.srv.routes.Load().Values, n)
		if msg != "" {
			x.Error(msg)
			return
		}
		order(x, func(ctx context.Context, o Operator) error {
			_, err := o.Agree(ctx, []agreed.Change{change})
			return err
		})
		return
	}
	was := x.srv.policies().OfDatabase(n)
	switch {
	case was.Change == 0 && was.Together == want.Together:
		x.OK()
		return
	case was.Moving:
		x.Error(fmt.Sprintf("ERR %d%% of the keys of database %d have moved: the policy can be changed again when all have", was.Moved(), n))
		return
	}
	var change uint64
	if !x.WithOperator(false, func(ctx context.Context, _ Operator) (err error) {
		if change, err = changer.Begin(ctx, want.Number); err != nil {
			return errors.New("the policy is not changed: " + err.Error()) // whether a change has begun or not
		}
		return nil
	}) {
		return
	}
	// A redirect connection asks all nodes, too.
	replies, drained := x.scatter(min(drainTimeout, x.srv.forwardTimeout()), []byte("RING"), []byte("DRAINED"),
		strconv.AppendInt(nil, int64(want.Number), 10), strconv.AppendUint(nil, change, 10))
	keys := wire.SumInts(replies)
	made, moves := false, error(nil)
	if drained {
		moves = x.within(func(ctx context.Context) (err error) {
			made, err = changer.Move(ctx, want.Number, want.Together, keys > 0)
			return err
		})
	}
	if !drained || made || moves != nil {
		want = database.Policy{Number: want.Number, Change: change} // the present one, which others may have changed
	}
	// Should this fail, the leader ends the change.
	err = x.within(func(ctx context.Context) error { return changer.End(ctx, change, want) })
	switch {
	case !drained: // scatter has replied
	case moves != nil:
		x.Error(fmt.Sprintf("ERR database %d holds %d keys, which cannot be moved: %v", n, keys, moves))
	case err != nil:
		x.Error(command.ErrorText(err))
	default:
		order(x, func(context.Context, Operator) error { return nil }) // done above: note it, and reply
	}
}

// awaitDrained waits until this server knows of a change, and runs no request any more that began before on the ranges that it
// returns. The change is one of a policy of data n, a swap, a step of a move whose keys lie together at a token, or the
// version of [agreed.ReplicaofName].
func awaitDrained(ctx context.Context, s *Server, n int, change uint64, at func(database.Policy) ring.Token) ([]ring.Range, error) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	ranges := []ring.Range{ring.Whole}
	for {
		routes := s.routes.Load()
		if routes == nil || routes.Policies.Of(n).Change == change || routes.Policies.Order().Change() == change ||
			routes.Values.Of(agreed.ReplicaofName).Version == change {
			break
		}
		if p := routes.Policies.Of(n); p.Step == change {
			ranges = rehome.Ranges(p, at(p))
			break
		}
		select {
		case <-routes.next:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	_, err := s.Quiesce(ctx, ranges...)
	return ranges, err
}

// cmdRingDrained is RING DRAINED n change, which nodes send each other: how many keys of data n are here (0 for a step), once
// this node runs no request for one since it knows of the change, which is one of a policy, a swap, or a step of a move.
func cmdRingDrained(x *call) {
	n, ok1 := wire.ParseInt(x.Args[2])
	change, err := strconv.ParseUint(string(x.Args[3]), 10, 64)
	if !ok1 || err != nil || n < 0 || n >= database.Limit {
		x.Error(command.MsgNotInteger)
		return
	}
	var ranges []ring.Range
	err = x.within(func(ctx context.Context) (err error) {
		ranges, err = awaitDrained(ctx, x.srv, int(n), change, func(p database.Policy) ring.Token { return togetherAt(x, p) })
		return err
	})
	if err != nil {
		x.Error("TRYAGAIN this node still runs requests for keys of the database")
		return
	}
	if len(ranges) > 1 { // a step of a move needs no count, and a count reads all slices
		x.Int(0)
	} else if keys, err := ownKeys(x, int(n)); err != nil {
		x.Fail(err)
	} else {
		x.Int(keys)
	}
}
