package acl

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// MaxRules is how many bytes the rules of one user may take, as [User.Rules] writes them.
const MaxRules = 64 << 10

// DefaultName is the name of the user that connections have before they log in.
const DefaultName = "default"

// A User is who a connection is, with what it may do. It never changes.
type User struct {
	name      string
	enabled   bool
	anyone    bool        // any password is right
	passwords []string    // SHA-256 in hexadecimal digits
	selectors []*selector // the first one is the root selector, to which rules outside of parentheses belong
	catalog   *Catalog
	// skipsSanitizing is a flag of Redis about payloads of RESTORE. It is only kept: they are always checked.
	skipsSanitizing bool

	rules        string
	unrestricted bool
}

// NewUser returns a user that may do nothing. anywhere gives access to all channels, as the parameter
// acl-pubsub-default of Redis may say of new users.
func NewUser(c *Catalog, name string, anywhere bool) *User {
	u := &User{name: name, selectors: []*selector{newSelector(c, anywhere)}, catalog: c}
	u.finish()
	return u
}

// NewDefault returns the default user of a server without users: it may do everything. An empty password
// means that none is needed.
func NewDefault(c *Catalog, password string) *User {
	u := NewUser(c, DefaultName, true)
	u.enabled, u.anyone = true, password == ""
	if password != "" {
		u.passwords = []string{hash(password)}
	}
	root := u.selectors[0]
	root.commands, root.future, root.allKeys = c.every.clone(), true, true
	u.finish()
	return u
}

// Name returns the name of the user.
func (u *User) Name() string { return u.name }

// Rules returns what makes a new user the same: in a form that does not depend on how it became so.
func (u *User) Rules() string { return u.rules }

// Unrestricted reports whether the user may call every command with all keys and channels.
func (u *User) Unrestricted() bool { return u.unrestricted }

// Open reports whether a client may be this user without a password.
func (u *User) Open() bool { return u.enabled && u.anyone }

// Enabled reports whether the user may log in at all.
func (u *User) Enabled() bool { return u.enabled }

// NeedsNoPassword reports whether any password is right.
func (u *User) NeedsNoPassword() bool { return u.anyone }

// Admits reports whether a client with a password may be this user. It takes the same time for all
// passwords of a length.
func (u *User) Admits(password []byte) bool {
	if !u.enabled {
		return false
	}
	if u.anyone {
		return true
	}
	sum := []byte(hash(string(password)))
	right := 0
	for _, known := range u.passwords {
		right |= subtle.ConstantTimeCompare(sum, []byte(known))
	}
	return right == 1
}

func hash(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

func isHash(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// finish derives what is known of the user from its parts.
func (u *User) finish() {
	u.rules = u.describe()
	u.unrestricted = slices.ContainsFunc(u.selectors, func(s *selector) bool {
		return s.allKeys && s.anywhere && s.allCommands(u.catalog)
	})
}

// With returns the user after some rules, as the arguments of ACL SETUSER give them. anywhere is what new
// selectors may do with channels. An error is in the words of Redis.
func (u *User) With(anywhere bool, rules ...string) (*User, error) {
	return u.with(anywhere, rules, func(error) bool { return false })
}

// with is With; it goes on behind a fault of which forgive returns true.
func (u *User) with(anywhere bool, rules []string, forgive func(error) bool) (*User, error) {
	merged, err := mergeSelectors(rules)
	if err != nil {
		return u, err
	}
	next := *u
	next.passwords, next.selectors = slices.Clone(u.passwords), slices.Clone(u.selectors)
	next.selectors[0] = next.selectors[0].clone()
	size := len(u.rules)
	for _, rule := range merged {
		if size += len(rule) + 1; size > 4*MaxRules {
			return u, fault(rule, errTooLarge)
		}
		if err := next.apply(anywhere, rule, forgive); err != nil && !forgive(err) {
			return u, fault(rule, err)
		}
	}
	if next.finish(); len(next.rules) > MaxRules {
		return u, ruleError(fmt.Sprintf("the user would have %d bytes of rules, %d are allowed", len(next.rules), MaxRules))
	}
	return &next, nil
}

func fault(rule string, err error) error {
	return ruleError(fmt.Sprintf("Error in ACL SETUSER modifier '%s': %v", rule, err))
}

// apply changes a user that is being made by one rule.
func (u *User) apply(anywhere bool, rule string, forgive func(error) bool) error {
	if rule == "" {
		return nil
	}
	switch word := strings.ToLower(rule); word {
	case "on", "off":
		u.enabled = word == "on"
	case "skip-sanitize-payload":
		u.skipsSanitizing = true
	case "sanitize-payload":
		u.skipsSanitizing = false
	case "nopass", "resetpass":
		u.anyone, u.passwords = word == "nopass", nil
	case "clearselectors":
		u.selectors = u.selectors[:1:1]
	case "reset":
		u.enabled, u.anyone, u.passwords, u.skipsSanitizing = false, false, nil, false
		u.selectors = []*selector{newSelector(u.catalog, anywhere)}
	default:
		return u.applyText(anywhere, rule, forgive)
	}
	return nil
}

// applyText is apply for rules that hold a text.
func (u *User) applyText(anywhere bool, rule string, forgive func(error) bool) error {
	switch {
	case rule[0] == '>' || rule[0] == '#' || rule[0] == '<' || rule[0] == '!':
		return u.applyPassword(rule)
	case rule[0] == '(' && rule[len(rule)-1] == ')' && len(rule) > 1:
		words, ok := splitWords(rule[1 : len(rule)-1])
		if !ok {
			return errSyntax
		}
		s := newSelector(u.catalog, anywhere)
		for _, word := range words {
			if word == "" || strings.ContainsAny(word, `"'`) || strings.HasSuffix(word, ")") {
				return errSyntax // nobody could read the rules of the user again
			}
			if err := s.apply(u.catalog, word); err != nil && !forgive(err) {
				return err
			}
		}
		u.selectors = append(u.selectors, s)
		return nil
	}
	return u.selectors[0].apply(u.catalog, rule)
}

func (u *User) applyPassword(rule string) error {
	sum := rule[1:]
	switch rule[0] {
	case '>', '<':
		sum = hash(sum)
	default:
		if !isHash(sum) {
			return errHash
		}
	}
	at := slices.Index(u.passwords, sum)
	switch {
	case rule[0] == '<' || rule[0] == '!':
		if at < 0 {
			return errNoPassword
		}
		u.passwords = slices.Delete(u.passwords, at, at+1)
	case at < 0:
		u.passwords = append(u.passwords, sum)
		fallthrough
	default:
		u.anyone = false
	}
	return nil
}
