package resp

// equalFold compares ASCII words without regard to case, as Redis compares
// names and options: bytes beyond ASCII have no case.
func equalFold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if lower(c) != lower(word[i]) {
			return false
		}
	}
	return true
}

// lower folds an ASCII letter.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
