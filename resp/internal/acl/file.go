package acl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/durable"
)

// maxFile bounds the ACL file that is read. Passwords in it may be longer than their hashes.
const maxFile = 4 * MaxUsers

// readFile reads an ACL file: lines "user <name> <rule> ...", as Redis' aclfile. It returns the users in the
// order of their lines, or every fault.
func (r *Registry) readFile() ([]*User, error) {
	f, err := os.Open(r.File)
	if err != nil {
		return nil, ruleError(fmt.Sprintf("Error loading ACLs, opening file '%s': %v", r.File, errors.Unwrap(err)))
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read of the ACL file: %w", err)
	case len(text) > maxFile:
		return nil, fmt.Errorf("the ACL file is larger than %d bytes", maxFile)
	}
	return parseFile(r.Catalog, r.File, string(text), r.Anywhere())
}

// parseFile is readFile for a text.
func parseFile(c *Catalog, path, text string, anywhere bool) ([]*User, error) {
	var users []*User
	var faults strings.Builder
	known := make(map[string]bool)
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		line = strings.Trim(line, " \t\r\n")
		if line == "" {
			continue
		}
		words := strings.Split(line, " ")
		switch {
		case words[0] != "user" || len(words) < 2:
			fmt.Fprintf(&faults, "%s:%d should start with user keyword followed by the username. ", path, number)
			continue
		case hasSpace(words[1]) || len(words[1]) > maxName:
			fmt.Fprintf(&faults, "'%s:%d: username '%s' contains invalid characters. ", path, number, words[1])
			continue
		case known[words[1]]:
			fmt.Fprintf(&faults, "WARNING: Duplicate user '%s' found on line %d. ", words[1], number)
			continue
		}
		known[words[1]] = true
		user, fault := parseLine(c, words, anywhere)
		if fault != "" {
			fmt.Fprintf(&faults, "%s:%d: %s. ", path, number, fault)
			continue
		}
		users = append(users, user)
	}
	if faults.Len() > 0 {
		return nil, ruleError(faults.String() + "WARNING: ACL errors detected, no change to the previously active ACL rules was performed")
	}
	return users, nil
}

// parseLine reads the user of a line, or returns the first fault. Of a rule that may be a password the fault
// names nothing.
func parseLine(c *Catalog, words []string, anywhere bool) (*User, string) {
	rules, err := mergeSelectors(words[2:])
	if err != nil {
		return nil, "Unmatched parenthesis in selector definition"
	}
	user := NewUser(c, words[1], anywhere)
	for i := range rules {
		rules[i] = strings.Trim(rules[i], "\t\r\n")
	}
	var first error
	fault := ""
	next, err := user.with(anywhere, rules, func(err error) bool {
		if first == nil {
			first = err
		}
		return false
	})
	switch {
	case err == nil:
		return next, ""
	case first == errUnknown:
		fault = strings.Replace(err.Error(), "Error in ACL SETUSER modifier", "Error in applying operation", 1)
	case first != nil:
		fault = first.Error()
	default:
		fault = err.Error()
	}
	return nil, fault
}

// ErrNoFile says that there is no ACL file.
const ErrNoFile ruleError = "This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to store users in the Redis configuration."

// Load makes the users of the ACL file those that are agreed on, and removes all others.
func (r *Registry) Load(ctx context.Context) error {
	if r.File == "" {
		return ErrNoFile
	}
	users, err := r.readFile()
	if err != nil {
		return err
	}
	return r.change(ctx, func(now *Users) ([]agreed.Change, error) { return now.replaceAll(users), nil })
}

// replaceAll returns the changes after which there are these users alone.
func (u *Users) replaceAll(users []*User) (changes []agreed.Change) {
	keep := make(map[string]bool)
	for _, user := range users {
		keep[user.name] = true
		if old := u.byName[user.name]; old == nil || old.rules != user.rules {
			changes = append(changes, u.set(user))
		}
	}
	for _, user := range u.all {
		if c, ok := u.remove(user.name); ok && !keep[user.name] {
			changes = append(changes, c)
		}
	}
	return changes
}

// UnguardedAtStart reports whether a server without a password that starts with an ACL file, or none, and with
// agreed values has users such as [Users.Unguarded].
func UnguardedAtStart(c *Catalog, file string, values *agreed.Values) (bool, error) {
	r := Registry{Catalog: c, File: file, Anywhere: func() bool { return false }}
	if err := r.Open(""); err != nil {
		return false, err
	}
	users, _ := r.users(nil, values) // a user whose rules cannot be read may do nothing
	return users.Unguarded(), nil
}

// Save writes the users to the ACL file.
func (r *Registry) Save() error {
	if r.File == "" {
		return ErrNoFile
	}
	if err := durable.Replace(r.File, []byte(strings.Join(r.Now().Lines(), "\n")+"\n")); err != nil {
		r.Logger.Error("writing the ACL file failed", "path", r.File, "err", err)
		return ruleError("There was an error trying to save the ACLs. Please check the server logs for more information")
	}
	return nil
}

// LoadAtStart has the users of the ACL file agreed on if nothing is agreed on yet. Else what is agreed on stays, and
// the log names the differences.
func (r *Registry) LoadAtStart(ctx context.Context) error {
	now := r.Now()
	switch {
	case r.file == nil:
		return nil
	case now.provisional:
		r.mu.Lock()
		initial := r.initial // SetPassword may replace it
		r.mu.Unlock()
		nothing, _ := newUsers(r.Catalog, nil, nil, initial)
		changes := append(nothing.replaceAll(r.file), nothing.guard())
		index, err := r.decide(ctx, changes)
		if err == nil {
			r.Await(ctx, index)
		}
		return err
	}
	if changes := now.replaceAll(r.file); len(changes) > 0 {
		r.Logger.Warn("the ACL file differs from the users that the cluster has agreed on, which stay: send ACL LOAD to make it the users of all nodes, or ACL SAVE to overwrite it",
			"path", r.File, "users", len(changes), "first", changes[0].Name[len(Prefix):])
	}
	return nil
}
