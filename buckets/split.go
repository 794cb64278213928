package buckets

import "github.com/ringside-kv/ringside/ring"

const (
	// outgrownBy is how many times the mean a bucket must have to be split alone.
	outgrownBy = 4
	// outgrownBytes is the size up to which no bucket is split for its size.
	outgrownBytes = 64 << 20
)

// splitAll splits every bucket until a node of mean weight has enough of them, or
// the mask is as wide as it may be.
func (s *Strategy) splitAll(all []bucket, nodes, copies int) []bucket {
	for copies*len(all) < s.cfg.SplitUnder*nodes {
		finer := make([]bucket, 0, len(all)<<splitBits)
		for _, b := range all {
			if b.canSplit(s.cfg.mostMask()) {
				finer = append(finer, b.split()...)
			} else {
				finer = append(finer, b)
			}
		}
		if len(finer) == len(all) {
			break
		}
		all = finer
	}
	return all
}

// splitOutgrown splits the buckets that have outgrown the mean, unless one key is
// most of what they hold. Splitting lowers the mean, so it goes on until nothing is
// left to split: doing it again changes nothing.
func (s *Strategy) splitOutgrown(all []bucket, load func(ring.Range) ring.Load) []bucket {
	if load == nil {
		return all
	}
	loads := make([]ring.Load, len(all))
	var sum int64
	for i, b := range all {
		loads[i] = load(b.Range())
		sum += loads[i].Bytes
	}
	for {
		mean := sum / int64(len(all))
		outgrown := func(i int) bool {
			l := loads[i]
			return l.Bytes > outgrownBytes && l.Bytes/outgrownBy > mean && l.Largest <= l.Bytes/2 &&
				all[i].canSplit(s.cfg.mostMask())
		}
		var finer []bucket
		var finerLoads []ring.Load
		for i, b := range all {
			if !outgrown(i) {
				finer, finerLoads = append(finer, b), append(finerLoads, loads[i])
				continue
			}
			for _, child := range b.split() {
				finer, finerLoads = append(finer, child), append(finerLoads, load(child.Range()))
			}
		}
		if len(finer) == len(all) {
			return all
		}
		all, loads = finer, finerLoads
	}
}

// split makes 16 buckets of one, with the copies that it has.
func (b bucket) split() []bucket {
	children := make([]bucket, 0, 1<<splitBits)
	for _, mask := range b.children() {
		child := bucket{Hashmask: mask, was: b.was, primary: gone}
		child.had = append(child.had, b.had...)
		child.holders = append(child.holders, b.had...)
		children = append(children, child)
	}
	return children
}
