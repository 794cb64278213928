package sets

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// The form of a set that OBJECT ENCODING names. Redis has three: an intset of integers, a listpack of a few short
// members, and a hashtable. The head of a set has one bit for that: a set that is marked large is a hashtable. One
// that is not is a listpack if it has a member that is no integer. A listpack that has lost its last such
// member is therefore called an intset, where Redis leaves it as it is.

// addMember adds a member to a set.
func addMember(x *command.Call, t *collection.Table, member []byte) (added bool, err error) {
	added, err = t.Set(member, nil)
	if !added || t.Value().Raw {
		return added, err
	}
	large, err := grewLarge(x, t, member)
	if large {
		t.MarkLarge()
	}
	return true, err
}

// grewLarge reports whether a compact set is not compact any more since a member was added. It looks at the other
// members only where the set passes one of the limits, so it reads each set a few times at most.
func grewLarge(x *command.Call, t *collection.Table, member []byte) (bool, error) {
	e := &x.Limits.Encodings
	n, integers, entries := t.Len(), e.SetIntegers.Load(), e.SetEntries.Load()
	switch {
	case IsLongMember(x, member):
		return true, nil
	case !command.IsInt(member):
		return n > entries, nil
	case n > integers && n > entries:
		return true, nil
	case n == entries+1: // an intset may grow on
		return hasWord(t)
	case n == integers+1 && n > 1: // a listpack may grow on
		words, err := hasWord(t)
		return !words, err
	}
	return false, nil
}

// expect marks a set that SADD has added n members to as large if the command has more members than a compact set may
// have: Redis takes all of them for new.
func expect(x *command.Call, t *collection.Table, n int64) error {
	e, given := &x.Limits.Encodings, int64(len(x.Args)-2)
	integers, entries := e.SetIntegers.Load(), e.SetEntries.Load()
	if given <= min(integers, entries) || t.Value().Raw {
		return nil
	}
	large := given > max(integers, entries)
	if created := t.Len() == n; !large && created {
		large = given > entries && !command.IsInt(x.Args[2])
	} else if !large {
		words, err := hasWord(t)
		if err != nil {
			return err
		}
		large = words && given > entries || !words && given > integers
	}
	if large {
		t.MarkLarge()
	}
	return nil
}

// IsLongMember reports whether Redis keeps a set with the member in no compact form.
func IsLongMember(x *command.Call, member []byte) bool {
	return int64(len(member)) > x.Limits.Encodings.SetValue.Load() && !command.IsInt(member)
}

// IsLarge reports whether Redis keeps a set of n members in no compact form. words tells that one of
// them is no integer.
func IsLarge(x *command.Call, n int64, words bool) bool {
	if e := &x.Limits.Encodings; words {
		return n > e.SetEntries.Load()
	} else {
		return n > e.SetIntegers.Load()
	}
}

// hasWord reports whether a set has a member that is no integer.
func hasWord(t *collection.Table) (found bool, err error) {
	err = t.All(func(member, _ []byte) bool {
		found = !command.IsInt(member)
		return !found
	})
	return found, err
}

// Encoding returns the name of the form of the set at a key, which is v. It has replied, and returns "", if the
// set cannot be read.
func Encoding(x *command.Call, key []byte, v store.Value) string {
	if v.Raw {
		return "hashtable"
	}
	t := &x.Table
	if v.Whole() {
		t.Over(x.Unit, key, store.Set, v)
	} else if !x.OpenWholeTable(t, key, store.Set) {
		return ""
	}
	switch words, err := hasWord(t); {
	case err != nil:
		x.Fail(err)
		return ""
	case words:
		return "listpack"
	}
	if n := t.Len(); !IsLarge(x, n, true) && IsLarge(x, n, false) { // it was never an intset
		return "listpack"
	}
	return "intset"
}
