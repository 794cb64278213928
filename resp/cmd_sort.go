package resp

func cmdSort(x *Call) { x.sort(false) }

func cmdSortRo(x *Call) { x.sort(true) }

func (x *Call) sort(readonly bool) {
	o, msg := x.parseSort(readonly)
	if msg != "" {
		x.Error(msg)
		return
	}
	s := sorter{Call: x, o: &o}
	if !s.open() {
		return
	}
	large := s.bytes > largeReply
	switch {
	case x.inside:
	case o.store == nil && x.unit.Latched() && (o.far || large):
		x.again = true // without latches
		return
	case o.store != nil && o.far && !x.everything:
		x.again, x.everything = true, true
		return
	}
	err := s.sort()
	if err == nil {
		err = s.collect()
	}
	switch {
	case err == errWidens:
	case err != nil:
		x.fail(err)
	case o.store != nil:
		s.store()
	default:
		s.reply()
	}
}
