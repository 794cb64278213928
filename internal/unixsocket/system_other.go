//go:build !unix

package unixsocket

import (
	"io/fs"
	"syscall"
	"time"
)

func restrict(syscall.RawConn, fs.FileMode) error { return nil }

func lockDir(string, time.Duration) (unlock func()) { return func() {} }
