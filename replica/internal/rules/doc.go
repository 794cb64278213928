// Package rules names the rules of replication that tests disable one at a time, to show that each
// is needed. The rules themselves are argued in replica/DESIGN.md.
package rules
