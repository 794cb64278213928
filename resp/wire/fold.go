package wire

// EqualFold compares ASCII words without regard to case, as Redis compares
// names and options: bytes beyond ASCII have no case.
func EqualFold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if Lower(c) != Lower(word[i]) {
			return false
		}
	}
	return true
}

// Lower folds an ASCII letter.
func Lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
