// Package audit writes the audit log: a line of JSON for each login, each change of users, each command of
// administration, and each command that was refused. It names commands and users, never values.
//
// Read log.go first; kind.go says which commands are audited.
package audit
