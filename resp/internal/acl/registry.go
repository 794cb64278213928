package acl

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
)

// A Registry has the present users of a server. Its fields are set before the first client; its methods may be
// called from any goroutine.
type Registry struct {
	// Catalog is of the server's commands.
	Catalog *Catalog
	// Agree has a cluster agree on changes and returns the values of then. Its error wraps [agreed.ErrChanged] if a
	// value is of another version. Without it the server decides alone.
	Agree func(ctx context.Context, changes []agreed.Change) (*agreed.Values, error)
	// Confirm waits, for a while, until other nodes go by the users as of an index.
	Confirm func(index uint64)
	// Guard, if set, is asked before the users change from such as [Users.Unguarded] to others. Its error refuses
	// the change.
	Guard func() error
	// Changed is called with the users of before and those that have replaced them.
	Changed func(before, now *Users)
	// Anywhere reports whether new users and selectors have all channels.
	Anywhere func() bool
	// File is the path of the ACL file; empty if there is none.
	File   string
	Logger *slog.Logger
	Log    Log

	now   atomic.Pointer[Users]
	index atomic.Uint64 // as of which now is known to be

	mu         sync.Mutex // guards changes of the fields above, and what follows
	generation uint64
	file       []*User // those of the ACL file at the start, which count until anything is agreed on
	// initial is the default user with the server's own password. It stays the same while that does: a connection tells
	// by its user whether its rights have changed.
	initial *User
	// replica is the agreed value of Users.Replica, as of an index of a generation, which may be ahead of the users'.
	replica           agreed.Value
	replicaGeneration uint64
	replicaIndex      uint64
	next              chan struct{} // closed with the next change, or the next index
}

// Open makes the first users: those of the ACL file, if there is one, and the default one, with the server's own
// password, or with none if that is empty.
func (r *Registry) Open(password string) (err error) {
	r.next = make(chan struct{})
	r.initial = NewDefault(r.Catalog, password)
	if r.File != "" {
		if r.file, err = r.readFile(); err != nil {
			return err
		}
	}
	users, _ := r.users(nil, nil)
	r.now.Store(users)
	return nil
}

// users returns the users of agreed values; those of the ACL file while nothing is agreed on.
func (r *Registry) users(before *Users, values *agreed.Values) (*Users, error) {
	if r.file != nil && values.Of(guard).Version == 0 {
		users := provisional(r.file, r.initial)
		users.values = values
		return users, nil
	}
	return newUsers(r.Catalog, before, values, r.initial)
}

// Now returns the present users.
func (r *Registry) Now() *Users { return r.now.Load() }

// SetPassword changes the server's own password, which is that of the default user unless this one is agreed on.
func (r *Registry) SetPassword(password string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.initial = NewDefault(r.Catalog, password); !r.Now().agreed {
		r.replace(r.Now().values)
	}
}

// Set brings the users in line with what a cluster of a generation has agreed on, as of an index. What is older than
// the present users is ignored.
func (r *Registry) Set(values *agreed.Values, generation, index uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setReplica(values, generation, index)
	if generation == r.generation && index < r.index.Load() {
		return
	}
	r.generation = generation
	r.index.Store(index)
	// Other values say nothing of users: connections would look up their rights in vain.
	was := r.Now().values
	if values.Of(guard) != was.Of(guard) || !slices.Equal(values.Under(Prefix), was.Under(Prefix)) {
		r.replace(values)
	}
	close(r.next)
	r.next = make(chan struct{})
}

// SetReplica takes from agreed values, as of an index, only whether clients may write. Unlike the users, this need not be
// kept for the next start before it counts.
func (r *Registry) SetReplica(values *agreed.Values, generation, index uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setReplica(values, generation, index)
}

func (r *Registry) setReplica(values *agreed.Values, generation, index uint64) {
	if generation == r.replicaGeneration && index < r.replicaIndex {
		return
	}
	r.replicaGeneration, r.replicaIndex = generation, index
	if v := values.Of(agreed.ReplicaofName); v.Version != r.replica.Version {
		r.replica = v
		r.replace(r.Now().values)
	}
}

// replace makes the users anew. The lock is held.
func (r *Registry) replace(values *agreed.Values) {
	before := r.Now()
	users, err := r.users(before, values)
	if err != nil {
		r.Logger.Error("a user whose rules cannot be read may do nothing", "err", err)
	}
	users.replica = r.replica
	r.now.Store(users)
	r.Changed(before, users)
}

// Await waits until the users are those of an index, or later ones. It returns false if the context ends before.
func (r *Registry) Await(ctx context.Context, index uint64) bool {
	for {
		r.mu.Lock()
		next := r.next
		r.mu.Unlock()
		if r.index.Load() >= index {
			return true
		}
		select {
		case <-next:
		case <-ctx.Done():
			return false
		}
	}
}

// awaitAgreed waits, for a while, until the users of the ACL file are agreed on: soon after the start of a node, unless
// its cluster agrees on nothing.
func (r *Registry) awaitAgreed(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, provisionalTimeout)
	defer stop()
	for {
		r.mu.Lock()
		now, next := r.Now(), r.next
		r.mu.Unlock()
		if !now.provisional {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return errProvisional
		}
	}
}

const (
	// provisionalTimeout is how long a change waits until the users of the ACL file are agreed on.
	provisionalTimeout = 5 * time.Second
	// newerTimeout is how long to wait for the change that came first.
	newerTimeout = 200 * time.Millisecond
	changeTries  = 20
)

// change has changes decided that are made from the present users, and waits until they are in force. It tries
// again if others came first. No changes are none.
func (r *Registry) change(ctx context.Context, from func(now *Users) ([]agreed.Change, error)) error {
	err := r.awaitAgreed(ctx)
	if err != nil {
		return err
	}
	for range changeTries {
		now, known := r.Now(), r.index.Load()
		changes, fault := from(now)
		if fault != nil || len(changes) == 0 {
			return fault
		}
		changes = append(changes, now.guard())
		if err = now.fits(changes); err != nil && !errors.Is(err, agreed.ErrChanged) {
			return err
		}
		if err = r.mayGuard(now, changes); err != nil {
			return err
		}
		index := uint64(0)
		if index, err = r.decide(ctx, changes); err == nil {
			r.Await(ctx, index)
			if r.Confirm != nil {
				r.Confirm(index)
			}
			return nil
		}
		if !errors.Is(err, agreed.ErrChanged) {
			return err
		}
		wait, stop := context.WithTimeout(ctx, newerTimeout)
		r.Await(wait, known+1)
		stop()
	}
	return err
}

// mayGuard asks Guard about changes if they are such as concern it.
func (r *Registry) mayGuard(now *Users, changes []agreed.Change) error {
	if r.Guard == nil || !now.Unguarded() {
		return nil
	}
	values, err := now.values.With(changes, r.index.Load()+1)
	if err != nil {
		return nil //nolint:nilerr // decide finds the same
	}
	r.mu.Lock()
	initial := r.initial
	r.mu.Unlock()
	if next, _ := newUsers(r.Catalog, now, values, initial); next.Unguarded() {
		return nil
	}
	return r.Guard()
}

func (r *Registry) decide(ctx context.Context, changes []agreed.Change) (uint64, error) {
	if r.Agree != nil {
		values, err := r.Agree(ctx, changes)
		return values.Of(guard).Version, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	index := r.index.Load() + 1
	values, err := r.Now().values.With(changes, index)
	if err != nil {
		return 0, err
	}
	r.index.Store(index)
	r.replace(values)
	return index, nil
}

// SetUser changes a user by rules, or makes it. A fault of a rule is in the words of Redis.
func (r *Registry) SetUser(ctx context.Context, name string, rules []string) error {
	switch {
	case hasSpace(name):
		return ruleError("Usernames can't contain spaces or null characters")
	case len(name) > maxName:
		return ruleError("the name of the user is too long")
	}
	return r.change(ctx, func(now *Users) ([]agreed.Change, error) {
		user := now.Get(name)
		if user == nil {
			user = NewUser(r.Catalog, name, r.Anywhere())
		}
		next, err := user.With(r.Anywhere(), rules...)
		if err != nil {
			return nil, err
		}
		if next.rules == user.rules && now.Get(name) != nil {
			return nil, nil
		}
		return []agreed.Change{now.set(next)}, nil
	})
}

// Delete removes users and returns how many there were.
func (r *Registry) Delete(ctx context.Context, names []string) (n int, err error) {
	err = r.change(ctx, func(now *Users) (changes []agreed.Change, _ error) {
		seen := make(map[string]bool)
		for _, name := range names {
			if c, ok := now.remove(name); ok && !seen[name] {
				seen[name] = true
				changes = append(changes, c)
			}
		}
		n = len(changes)
		return changes, nil
	})
	return n, err
}
