package admin

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// MsgNoPlacement is the error of commands that need a placement.
const MsgNoPlacement = "ERR this node is not in a cluster and has no placement"

// RingPlacement is RING PLACEMENT [TEXT]: the placement, nil if there is none, in one of the two forms that
// [ring.Placement] can read.
func RingPlacement(x *command.Call, p *ring.Placement) {
	write := func() (err error) {
		var b []byte
		if len(x.Args) == 3 {
			if b, err = p.MarshalText(); err == nil {
				x.Verbatim(string(b))
			}
		} else if b, err = p.MarshalBinary(); err == nil {
			x.Bulk(b)
		}
		return err
	}
	switch {
	case len(x.Args) > 3 || len(x.Args) == 3 && !wire.EqualFold(x.Args[2], "text"):
		x.Error(command.MsgSyntax)
	case p == nil:
		x.Error(MsgNoPlacement)
	default:
		if err := write(); err != nil {
			x.Fail(err)
		}
	}
}
