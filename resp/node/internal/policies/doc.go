// Package policies changes the policies of databases in the placement table.
package policies
