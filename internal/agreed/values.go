package agreed

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxName is the length in bytes of the longest name.
	MaxName = 1 << 10
	// MaxBytes is how many bytes all values may take, with their names. Each snapshot of the table holds
	// all of them.
	MaxBytes = 8 << 20
	// cost is what a value counts beside its bytes.
	cost = 64
)

var (
	// ErrChanged says that a value is not of the version that the change was made for.
	ErrChanged = errors.New("the value has changed meanwhile")
	// ErrUnknown says that an order may take effect, or has taken effect on a part of the nodes only. An order that
	// was not proposed to the cluster, or that was refused, has another error.
	ErrUnknown = errors.New("the outcome is open")
	// ErrTooLarge says that there is no room for a value.
	ErrTooLarge = errors.New("too large")
)

// TypesName is the name of the value by which the nodes have agreed that there may be JSON values and filters.
const TypesName = "types"

// ListsName is the name of the value by which the nodes have agreed that lists may have chunks.
const ListsName = "lists"

// ReplicaofName is the name of the value that says which server the cluster is a replica of: REPLICAOF.
const ReplicaofName = "replicaof"

// LatestForms are the changes by which nodes that have not agreed on forms of data agree on the latest ones.
func LatestForms() []Change { return []Change{{Name: ListsName, Body: "chunks"}} }

// AtomicUsers begins the names of the values that say that a user's transactions and scripts are undone by an error.
const AtomicUsers = "atomic/"

// A Value is what was agreed under a name. Names of one kind have a common prefix, as "user/".
type Value struct {
	Name, Body string
	// Version is the index of the table at which the value was set: never 0, and never the same for two
	// bodies.
	Version uint64
}

// A Change sets or removes one value.
type Change struct {
	Name, Body string
	Remove     bool
	// Was is the version of the value that the change was made for; 0 if there was none.
	Was uint64
}

// Values are those of a cluster, by their names. They never change. nil means that there are none.
type Values struct {
	all   []Value
	bytes int
}

// New returns values; nil if there are none. It fails if they are not in the order of their names, or
// more than there may be.
func New(all []Value) (*Values, error) {
	if len(all) == 0 {
		return nil, nil
	}
	v := &Values{all: all}
	for i := range all {
		switch {
		case all[i].Name == "" || len(all[i].Name) > MaxName:
			return nil, fmt.Errorf("a name of %d bytes: %w", len(all[i].Name), ErrTooLarge)
		case i > 0 && all[i-1].Name >= all[i].Name:
			return nil, errors.New("agreed values in a wrong order")
		}
		v.bytes += cost + len(all[i].Name) + len(all[i].Body)
	}
	if v.bytes > MaxBytes {
		return nil, fmt.Errorf("%d bytes of agreed values, %d are allowed: %w", v.bytes, MaxBytes, ErrTooLarge)
	}
	return v, nil
}

// All returns the values in the order of their names. The caller must not change them.
func (v *Values) All() []Value {
	if v == nil {
		return nil
	}
	return v.all
}

// Under returns the values whose names begin with a prefix. The caller must not change them.
func (v *Values) Under(prefix string) []Value {
	all := v.All()
	from, _ := slices.BinarySearchFunc(all, prefix, byName)
	to := from
	for to < len(all) && strings.HasPrefix(all[to].Name, prefix) {
		to++
	}
	return all[from:to]
}

// Of returns the value of a name; one of version 0 if there is none.
func (v *Values) Of(name string) Value {
	all := v.All()
	if i, ok := slices.BinarySearchFunc(all, name, byName); ok {
		return all[i]
	}
	return Value{Name: name}
}

// With returns the values after some changes, all or none of which are made.
func (v *Values) With(changes []Change, version uint64) (*Values, error) {
	all := slices.Clone(v.All())
	for i := range changes {
		c := &changes[i]
		if was := v.Of(c.Name).Version; was != c.Was {
			return v, fmt.Errorf("%.100q: %w", c.Name, ErrChanged)
		}
		at, there := slices.BinarySearchFunc(all, c.Name, byName)
		switch {
		case c.Remove && there:
			all = slices.Delete(all, at, at+1)
		case c.Remove:
		case there:
			all[at] = Value{c.Name, c.Body, version}
		default:
			all = slices.Insert(all, at, Value{c.Name, c.Body, version})
		}
	}
	next, err := New(all)
	if err != nil {
		return v, err
	}
	return next, nil
}

func byName(v Value, name string) int { return strings.Compare(v.Name, name) }
