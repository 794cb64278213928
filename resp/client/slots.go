package client

// slots are the calls that wait for a reply. The id that travels names a slot in
// its low half and the slot's use in its high half, so that a reply to a call that
// has ended meanwhile finds nobody.
type slots struct {
	all  []slot
	free []uint32
}

type slot struct {
	call *Call
	uses uint32
}

func (s *slots) put(c *Call) (id uint64) {
	var i uint32
	if n := len(s.free); n > 0 {
		i = s.free[n-1]
		s.free = s.free[:n-1]
	} else {
		i = uint32(len(s.all))
		s.all = append(s.all, slot{})
	}
	s.all[i].call = c
	return uint64(s.all[i].uses)<<32 | uint64(i)
}

// take returns the call with an id and frees its slot; nil if it has ended. known
// is false for an id that no call ever had, or whose call is not sent yet.
func (s *slots) take(id uint64) (c *Call, known bool) {
	i, uses := uint32(id), uint32(id>>32)
	if uint64(i) >= uint64(len(s.all)) {
		return nil, false
	}
	if s.all[i].uses != uses || s.all[i].call == nil {
		return nil, true
	}
	if c = s.all[i].call; c.pinned {
		return nil, false
	}
	s.release(i)
	return c, true
}

// find returns the call with an id, nil if there is none or it has ended.
func (s *slots) find(id uint64) *Call {
	i, uses := uint32(id), uint32(id>>32)
	if uint64(i) >= uint64(len(s.all)) || s.all[i].uses != uses {
		return nil
	}
	return s.all[i].call
}

func (s *slots) release(i uint32) {
	s.all[i].call = nil
	s.all[i].uses++
	s.free = append(s.free, i)
}

// clear frees all slots and returns their calls.
func (s *slots) clear() []*Call {
	var calls []*Call
	for i := range s.all {
		if c := s.all[i].call; c != nil {
			calls = append(calls, c)
			s.release(uint32(i))
		}
	}
	return calls
}
