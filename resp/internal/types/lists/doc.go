// Package lists has the commands on lists, those that block included.
package lists
