package script

import (
	"context"

	lua "github.com/yuin/gopher-lua"
)

const (
	// maxEncoded is how deep cjson encodes tables, whatever its setting says: where Lua's stack
	// ends in Redis.
	maxEncoded = 7997
	// maxCoroutines is how many coroutines may run within each other, as in Lua.
	maxCoroutines = 200
	effortSlice   = 1 << 12
)

// An effort bounds what a Go function does for a script: the bytes that it makes, and its time,
// which ends with the script's context.
type effort struct {
	l     *lua.LState
	ctx   context.Context
	most  int // bytes
	steps int
}

func (r *Runtime) effort(l *lua.LState) effort { return effort{l: l, ctx: r.ctx, most: r.maxBuilt} }

// step counts a step, and raises an error if the script is to end.
func (e *effort) step() {
	if e.steps++; e.steps%effortSlice == 0 && e.ctx != nil && e.ctx.Err() != nil {
		e.l.RaiseError("%s", e.ctx.Err())
	}
}

// made counts a step, and raises an error if a text has more bytes than it may.
func (e *effort) made(n int) {
	if e.step(); n > e.most {
		e.l.RaiseError("not enough memory")
	}
}

// refuseNested raises an error if a coroutine would run within too many others.
func refuseNested(l *lua.LState) {
	n := 0
	for at := l; at != nil; at = at.Parent {
		if n++; n > maxCoroutines {
			l.RaiseError("C stack overflow")
		}
	}
}
