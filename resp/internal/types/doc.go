// Package types lists the commands on values of all types. Each family has a package of its own below this one.
package types
