package resp

import (
	"context"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/resp/wire"
)

// The comparison of copies: --scrub-interval and RING SCRUB.

// ScrubInterval is in how much time a node compares all that it serves with its backups; 0
// is only when it is told to.
func (s *Server) ScrubInterval() time.Duration {
	return time.Duration(s.settings.ScrubEvery.Load())
}

// cmdRingScrub is RING SCRUB [STATUS].
func cmdRingScrub(x *call) {
	if len(x.Args) == 2 {
		order(x, func(ctx context.Context, o Operator) error { return o.Scrub(ctx) })
		return
	}
	if len(x.Args) != 3 || !wire.EqualFold(x.Args[2], "status") {
		x.Error(command.MsgSyntax)
		return
	}
	x.draw(status.DrawScrub)
}
