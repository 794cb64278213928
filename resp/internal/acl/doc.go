// Package acl has the users of a server: what each may do, how that is written as rules, and which call of a
// command it allows. It is what Redis 7.0 means by ACL. It knows commands by their rows, and neither
// connections nor nodes.
//
// A [User] never changes, and neither do [Users], which are those of one moment; a [Registry] has the present
// ones. Read [User] first, then check.go.
package acl
