// Package machine tells starts of a machine, and copies of its files, from one another.
package machine
