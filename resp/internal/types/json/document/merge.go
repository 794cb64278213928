package document

// Merge changes v as a JSON Merge Patch (RFC 7396) says: members of the patch replace those of v, null removes them.
// grow is asked for the memory of what is copied from the patch, which stays as it is. With an error v may be changed in part.
func (v *Value) Merge(patch *Value, grow func(bytes int64) bool) error {
	if patch.kind != Object {
		fresh, err := patch.Clone(grow)
		if err == nil {
			v.Set(fresh)
		}
		return err
	}
	if v.kind != Object {
		*v = Value{kind: Object}
	}
	members, removed := v.index(), false
	if grow != nil && members.large != nil && !grow(int64(len(v.keys))*nodeBytes) {
		return ErrMemory
	}
	for i, change := range patch.items {
		key := patch.keys[i]
		at, ok := members.find(key)
		switch {
		case change.kind == Null && ok:
			v.items[at], removed = nil, true
		case change.kind == Null:
		case ok:
			if err := v.items[at].Merge(change, grow); err != nil {
				return err
			}
		default:
			if grow != nil && !grow(nodeBytes) {
				return ErrMemory
			}
			member := new(Value)
			if err := member.Merge(change, grow); err != nil {
				return err
			}
			members.add(key, member)
		}
	}
	if removed {
		v.Remove(func(item *Value) bool { return item == nil })
	}
	return nil
}

// Clone returns a copy that shares nothing with v but its texts. grow is asked for its memory, unless it is nil.
func (v *Value) Clone(grow func(bytes int64) bool) (*Value, error) {
	if grow != nil && !grow(nodeBytes+int64(len(v.keys))*16) {
		return nil, ErrMemory
	}
	c := &Value{kind: v.kind, text: v.text}
	if v.kind == Object {
		c.keys = append(c.keys, v.keys...)
	}
	for _, item := range v.items {
		below, err := item.Clone(grow)
		if err != nil {
			return nil, err
		}
		c.items = append(c.items, below)
	}
	return c, nil
}
