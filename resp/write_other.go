//go:build !unix

package resp

const directWrites = false

func (c *conn) writeOnce(uintptr) bool { return true }
