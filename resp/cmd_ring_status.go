package resp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/resp/wire"
)

type (
	// Overview is that of package status.
	Overview = status.Overview
	// Moves are those of package status.
	Moves = status.Moves
)

func (s *Server) moves() Moves {
	if s.cfg.Overview == nil {
		return Moves{}
	}
	return s.cfg.Overview.Moves()
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
