package keys

import "github.com/ringside-kv/ringside/resp/internal/command"

func cmdSort(x *command.Call) { sort(x, false) }

func cmdSortRo(x *command.Call) { sort(x, true) }

func sort(x *command.Call, readonly bool) {
	o, msg := parseSort(x, readonly)
	if msg != "" {
		x.Error(msg)
		return
	}
	s := sorter{Call: x, o: &o}
	if !s.open() {
		return
	}
	large := s.bytes > command.LargeReply
	switch {
	case x.InTransaction:
	case o.store == nil && x.Unit.Latched() && (o.far || large):
		x.RunAgain = true // without latches
		return
	case o.store != nil && o.far && !x.LatchAll:
		x.RunAgain, x.LatchAll = true, true
		return
	}
	err := s.sort()
	if err == nil {
		err = s.collect()
	}
	switch {
	case err == errWidens:
	case err != nil:
		x.Fail(err)
	case o.store != nil:
		s.store()
	default:
		s.reply()
	}
}
