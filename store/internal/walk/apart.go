package walk

import (
	"bytes"
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// AreApart reports whether no entries of two kinds, the byte that follows a prefix, go on alike.
func AreApart(src Source, prefix []byte, kinds [2]byte) (apart bool, err error) {
	var iters [2]*pebble.Iterator
	for i, kind := range kinds {
		lower := append(bytes.Clone(prefix), kind)
		upper := append(bytes.Clone(prefix), kind+1)
		if iters[i], err = src.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper}); err != nil {
			return false, src.ReadFailed(err)
		}
		defer func() { _ = iters[i].Close() }()
	}
	a, b := iters[0], iters[1]
	rest := func(it *pebble.Iterator) []byte { return it.Key()[len(prefix)+1:] }
	seek := func(i int, at []byte) bool {
		return iters[i].SeekGE(append(append(bytes.Clone(prefix), kinds[i]), at...))
	}
	for more := a.First() && b.First(); more; {
		switch order := bytes.Compare(rest(a), rest(b)); {
		case order < 0:
			more = seek(0, rest(b))
		case order > 0:
			more = seek(1, rest(a))
		default:
			return false, nil
		}
	}
	if err = errors.Join(a.Error(), b.Error()); err != nil {
		return false, src.ReadFailed(err)
	}
	return true, nil
}
