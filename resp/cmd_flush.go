package resp

import "github.com/ringside-kv/ringside/store"

// cmdFlushall: ASYNC and SYNC are the same, since removing all keys takes no
// longer for many than for few.
func cmdFlushall(x *call) {
	switch {
	case len(x.args) == 1:
	case len(x.args) == 2 && (equalFold(x.args[1], "async") || equalFold(x.args[1], "sync")):
	default:
		x.err(msgSyntax)
		return
	}
	var done store.Signal
	err := x.srv.store.Clear(&done)
	if err == nil {
		err = done.Wait()
	}
	if err != nil {
		x.fail(err)
		return
	}
	x.ok()
}

func cmdFlushdb(x *call) { cmdFlushall(x) }
