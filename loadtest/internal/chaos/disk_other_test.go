//go:build !linux

package chaos

import "errors"

var errNoDisks = errors.New("only Linux has disks that can be stalled")

func makeDisk(string, string) error { return errNoDisks }
func stall(string, bool) error      { return errNoDisks }
func fillDisk(string, int64)        {}
