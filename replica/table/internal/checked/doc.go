// Package checked adds checksums to what Raft keeps in bbolt: the entries of the log, and the record of
// terms and votes. What is damaged or missing is an error that says what an operator can do.
package checked
