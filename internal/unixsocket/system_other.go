//go:build !unix

package unixsocket

import (
	"io/fs"
	"syscall"
)

func restrict(syscall.RawConn, fs.FileMode) error { return nil }

func lockDir(string) (unlock func()) { return func() {} }
