package acl

import "github.com/ringside-kv/ringside/resp/internal/command"

// A Right is that of a user to a command which may run long after it was checked.
type Right struct {
	User *User // as the user was then; nil if the user may do everything
	Of   *Registry
}

// Lasts reports whether the user may still send the command, whose keys are stored keys. A user who is gone may not.
func (r Right) Lasts(row *command.Row, args [][]byte) bool {
	if r.User == nil {
		return true
	}
	users := r.Of.Now()
	if !users.MayWrite() && row.Flags&command.FlagWrite != 0 {
		return false
	}
	now := users.Get(r.User.name)
	if now == nil || now == r.User {
		return now != nil
	}
	d, _ := now.Check(&Call{Row: row, Args: args, Stored: true}, nil)
	return d.Reason == Allowed
}
