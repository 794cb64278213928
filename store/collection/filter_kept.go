package collection

// keptBlocks are the blocks of one filter of a chain that a command has read.
type keptBlocks struct {
	few  []keptBlock // by number, unless there may be many
	many map[uint32]keptBlock
}

// A keptBlock is a block, nil if all of its bits are zero. The zero value was not read yet.
type keptBlock struct {
	block  []byte
	isRead bool
}

const (
	// maxPlaces is up to how many blocks have a place each.
	maxPlaces = 1 << 12
	// placeBytes is what a place takes.
	placeBytes = 32
)

// keptBlock returns a block, which it reads if that was not done before.
func (f *Filter) keptBlock(at blockAt) (block []byte, stored bool, err error) {
	if len(f.kept) < len(f.chain.Links) {
		f.kept = append(f.kept, make([]keptBlocks, len(f.chain.Links)-len(f.kept))...)
	}
	k := &f.kept[at.link]
	if k.few == nil && k.many == nil {
		if n := (f.chain.Links[at.link].Bytes() + blockLen - 1) / blockLen; n > maxPlaces {
			k.many = map[uint32]keptBlock{}
		} else if f.Grow != nil && !f.Grow(int64(n)*placeBytes) {
			return nil, false, ErrNoMemory
		} else {
			k.few = make([]keptBlock, n)
		}
	}
	var b keptBlock
	if k.few != nil {
		b = k.few[at.block]
	} else {
		b = k.many[at.block]
	}
	if b.isRead {
		return b.block, b.block != nil, nil
	}
	if f.Grow != nil && !f.Grow(blockBytes) {
		return nil, false, ErrNoMemory
	}
	if b.block, _, err = f.storedBlock(at); err != nil {
		return nil, false, err
	}
	b.isRead = true
	if k.few != nil {
		k.few[at.block] = b
	} else {
		k.many[at.block] = b
	}
	return b.block, b.block != nil, nil
}
