package resp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/resp/wire"
)

// An Overview knows the cluster and this node's part in it. Its methods are called by
// connections' goroutines, several at once.
type Overview interface {
	// Status asks all nodes how they are. One that does not answer in time is in the
	// report all the same. ctx is as that of an [Operator].
	Status(ctx context.Context) (*status.Report, error)
	// Moves returns at once.
	Moves() Moves
}

// Moves are what this node knows of the moving of data.
type Moves struct {
	Cluster, Generation string // empty before the node is in one
	Leader              string // who leads those that agree on the placement, if known
	// Paused and Throttle hold for the whole cluster.
	Paused   bool
	Throttle int64 // bytes a second of one node; 0 is no bound
	// Switching reports a switch of the strategy that is not finished.
	Switching bool
	// Running are the handoffs in which this node has a part and that are not done.
	Running int
	// PendingKeys and PendingBytes are still to be handed over by this node, as far as
	// is known.
	PendingKeys, PendingBytes int64
	// Waiting are the handoffs by this node that do not go on, by the cause, which is one
	// of a few words. Causes without any are in it as well, once the node is in a cluster.
	Waiting map[string]int
	// Short and Lost are ranges of the whole cluster: see [status.Report].
	Short, Lost int
	status.Moved
	Feeding status.Feeding
	// Lease is the node's own.
	Lease status.Lease
	// Scrub is how far this node's check of copies is.
	Scrub status.Scrub
}

func (s *Server) moves() Moves {
	if s.cfg.Overview == nil {
		return Moves{}
	}
	return s.cfg.Overview.Moves()
}

// infoMoves tells who moves data, and how far that is.
func infoMoves(w *admin.Info, s *Server) {
	m := s.moves()
	w.Line("cluster", m.Cluster)
	w.Line("generation", m.Generation)
	w.Line("leader", m.Leader)
	w.Line("moves_paused", admin.Bit(m.Paused))
	w.Line("moves_throttle", m.Throttle)
	w.Line("strategy_switching", admin.Bit(m.Switching))
	w.Line("handoffs_running", m.Running)
	w.Line("handoffs_done", m.Done)
	w.Line("handoffs_failed", m.Failed)
	w.Line("pending_keys", m.PendingKeys)
	w.Line("pending_bytes", m.PendingBytes)
	w.Line("moved_ranges", m.Ranges)
	w.Line("moved_keys", m.Keys)
	w.Line("moved_bytes", m.Bytes)
	w.Line("moved_traffic_bytes", m.Traffic)
	w.Line("moved_bytes_per_second", int64(m.Rate))
	w.Line("held_milliseconds", int64(m.Held*1000))
	w.Line("pending_items", m.Feeding.Pending)
	w.Line("ranges_short_of_backups", m.Short)
	w.Line("ranges_lost", m.Lost)
	w.Line("backups_admitted", s.stats.Growths.Load())
	w.Line("min_in_sync", s.MinInSync())
	admin.InfoLease(w, &m.Lease)
	admin.InfoScrub(w, &m.Scrub)
}

// cmdRingStatus is RING STATUS [JSON]: the cluster as ringside status draws it, or in a
// form for programs.
func cmdRingStatus(x *call) {
	inJSON := len(x.Args) == 3 && wire.EqualFold(x.Args[2], "json")
	if len(x.Args) != 2 && !inJSON {
		x.Error(command.MsgSyntax)
		return
	}
	x.draw(func(w io.Writer, report *status.Report) error {
		if !inJSON {
			return status.Draw(w, report, status.LeastWidth)
		}
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(report)
	})
}

// draw replies with a picture of the cluster as it is now.
func (x *call) draw(picture func(io.Writer, *status.Report) error) {
	if x.srv.cfg.Overview == nil {
		x.Error("ERR this node does not know the cluster")
		return
	}
	var text bytes.Buffer
	err := x.within(func(ctx context.Context) error {
		report, err := x.srv.cfg.Overview.Status(ctx)
		if err != nil {
			return err
		}
		return picture(&text, report)
	})
	if err != nil {
		x.Error("ERR " + err.Error())
		return
	}
	x.Verbatim(text.String())
}

// within runs something that may wait for other nodes, until the client or the server
// is gone or operatorTimeout is over.
func (x *call) within(do func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), x.srv.operatorTimeout(), errOperatorTimeout)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-x.conn.gone:
		case <-x.srv.stop:
		case <-ctx.Done():
		}
		cancel()
	}()
	start := x.srv.clock()
	err := do(ctx)
	x.waited += x.srv.clock() - start
	cancel()
	<-watched
	return err
}

// operatorTimeout is how long a client waits for an order to be accepted.
const operatorTimeout = 10 * time.Second

// operatorTimeout is that, or less while this node reaches no majority.
func (s *Server) operatorTimeout() time.Duration {
	if r := s.routes.Load(); r != nil && r.Isolated {
		return isolatedTimeout
	}
	return operatorTimeout
}

var errOperatorTimeout = errors.New("the cluster has not agreed in time")
