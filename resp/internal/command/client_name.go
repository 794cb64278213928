package command

// maxClientWord bounds what a client may have the server remember of it, in bytes.
const maxClientWord = 4 << 10

// BadClientName returns why a client cannot have a name, as the error reply, or "".
func BadClientName(name []byte) string {
	switch {
	case len(name) > maxClientWord:
		return "ERR Client names cannot be longer than 4096 bytes."
	case !IsClientWord(name):
		return "ERR Client names cannot contain spaces, newlines or special characters."
	}
	return ""
}

// IsClientWord reports whether what a client says of itself is short enough, printable and has no spaces.
func IsClientWord(b []byte) bool {
	for _, c := range b {
		if c < '!' || c > '~' {
			return false
		}
	}
	return len(b) <= maxClientWord
}
