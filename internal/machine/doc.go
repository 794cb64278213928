// Package machine tells starts of a machine, and copies of its files, from one another, and has clocks that
// go on while the machine is suspended.
package machine
