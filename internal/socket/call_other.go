//go:build !unix

package socket

import "errors"

const direct = false

func read(uintptr, []byte) (int, error)  { return 0, errors.ErrUnsupported }
func write(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }
