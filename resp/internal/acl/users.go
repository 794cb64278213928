package acl

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/internal/agreed"
)

// Prefix begins the names of agreed values that are users: the name of the user follows, and the value has
// its rules.
const Prefix = "user/"

// guard is the name of the value that each change of users sets: so one comes after the other, and its version
// is the index of the last one.
const guard = "users"

const (
	// MaxUsers is how many bytes the rules and names of all users may take.
	MaxUsers = 1 << 20
	maxName  = 512
)

// Users are those of one moment, ordered by name. They never change.
type Users struct {
	all     []*User
	byName  map[string]*User
	initial *User // the default user
	// agreed reports that the default user is agreed on, and not made from the server's password.
	agreed bool
	// provisional reports that these are the users of the ACL file, before anything is agreed on.
	provisional bool
	values      *agreed.Values
	replica     agreed.Value
}

// Replica returns the agreed value that makes the keys those of another server, which clients may not change; its version
// is 0 if there is none.
func (u *Users) Replica() agreed.Value { return u.replica }

// MayWrite reports whether clients may write at all.
func (u *Users) MayWrite() bool { return u == nil || u.replica.Version == 0 }

// newUsers returns the users of agreed values, and the initial default user unless one of them is it. It takes
// those that are as before from the users before. Rules about commands that this build does not know are left
// out. A user with any other fault may do nothing.
func newUsers(c *Catalog, before *Users, values *agreed.Values, initial *User) (*Users, error) {
	u := &Users{byName: make(map[string]*User), values: values}
	var failed error
	for _, v := range values.Under(Prefix) {
		name := v.Name[len(Prefix):]
		user := before.Get(name)
		if user == nil || before.values.Of(v.Name) != v {
			var err error
			if user, err = parse(c, name, v.Body); err != nil {
				failed = cmp.Or(failed, fmt.Errorf("rules of user %q: %w", name, err))
				user = NewUser(c, name, false) // it may do nothing
			}
		}
		u.all, u.byName[name] = append(u.all, user), user
	}
	if u.initial = u.byName[DefaultName]; u.initial == nil {
		u.initial, u.byName[DefaultName] = initial, initial
		at, _ := slices.BinarySearchFunc(u.all, DefaultName, func(u *User, name string) int { return strings.Compare(u.name, name) })
		u.all = slices.Insert(u.all, at, initial)
	} else {
		u.agreed = true
	}
	return u, failed
}

// provisional returns the users of an ACL file, before anything is agreed on.
func provisional(users []*User, initial *User) *Users {
	u := &Users{byName: make(map[string]*User), provisional: true}
	for _, user := range users {
		u.byName[user.name] = user
	}
	if u.agreed = u.byName[DefaultName] != nil; !u.agreed {
		u.byName[DefaultName] = initial
	}
	u.initial = u.byName[DefaultName]
	u.all = slices.SortedFunc(maps.Values(u.byName), func(a, b *User) int { return strings.Compare(a.name, b.name) })
	return u
}

// parse reads rules as [User.Rules] writes them.
func parse(c *Catalog, name, rules string) (*User, error) {
	return NewUser(c, name, false).with(false, splitRules(rules), func(err error) bool { return err == errUnknown })
}

// splitRules splits what [User.Rules] writes: a pattern may hold quotes.
func splitRules(rules string) []string { return strings.Split(rules, " ") }

// Get returns the user of a name, nil if there is none.
func (u *Users) Get(name string) *User {
	if u == nil {
		return nil
	}
	return u.byName[name]
}

// All returns the users in the order of their names. The caller must not change them.
func (u *Users) All() []*User { return u.all }

// Default returns the default user, which connections have before they log in.
func (u *Users) Default() *User { return u.initial }

// Unguarded reports whether a client without a password may do everything.
func (u *Users) Unguarded() bool { return u.initial.Open() && u.initial.Unrestricted() }

// DefaultIsAgreed reports whether the default user is agreed on, so that the server's own password does not
// count.
func (u *Users) DefaultIsAgreed() bool { return u.agreed }

// Lines returns the users as lines of an ACL file, as ACL LIST shows them.
func (u *Users) Lines() []string {
	lines := make([]string, len(u.all))
	for i, user := range u.all {
		lines[i] = "user " + user.name + " " + user.rules
	}
	return lines
}

// set returns the change that gives a user its present rules.
func (u *Users) set(user *User) agreed.Change {
	return agreed.Change{Name: Prefix + user.name, Body: user.rules, Was: u.values.Of(Prefix + user.name).Version}
}

// guard returns the change that is part of each change of users. Its body is that of no other.
func (u *Users) guard() agreed.Change {
	return agreed.Change{Name: guard, Body: rand.Text(), Was: u.values.Of(guard).Version}
}

// remove returns the change that removes a user, and whether there is one.
func (u *Users) remove(name string) (agreed.Change, bool) {
	v := u.values.Of(Prefix + name)
	return agreed.Change{Name: v.Name, Was: v.Version, Remove: true}, v.Version != 0
}

// fits returns an error if the users after some changes would be too many.
func (u *Users) fits(changes []agreed.Change) error {
	next, err := u.values.With(changes, 1)
	if err != nil {
		return err
	}
	size := 0
	for _, v := range next.Under(Prefix) {
		size += len(v.Name) + len(v.Body)
	}
	if size > MaxUsers {
		return fmt.Errorf("the users would have %d bytes of rules, %d are allowed", size, MaxUsers)
	}
	return nil
}

// nobody is compared with in place of a user that is not there, so that this takes as long.
var nobody = &User{enabled: true, passwords: []string{hash("")}}

// Login returns the user of a name if a password is right; else nil.
func (u *Users) Login(name, password []byte) *User {
	user := u.byName[string(name)]
	if user == nil {
		nobody.Admits(password)
		return nil
	}
	if !user.Admits(password) {
		return nil
	}
	return user
}

// LostChannels returns the names of the users that have had more channels before. The subscriptions of their
// connections must be looked at.
func (u *Users) LostChannels(before *Users) map[string]bool {
	lost := make(map[string]bool)
	for _, user := range u.all {
		if was := before.Get(user.name); was != nil && was != user && lostChannels(was, user) {
			lost[user.name] = true
		}
	}
	return lost
}

func lostChannels(before, now *User) bool {
	patterns, everything := now.Channels()
	if everything {
		return false
	}
	had, all := before.Channels()
	return all || slices.ContainsFunc(had, func(p string) bool { return !slices.Contains(patterns, p) })
}
