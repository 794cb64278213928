package admin

// FormatOf is the reply to RING FORMAT: how new data is written.
func FormatOf(chunks bool) string {
	if chunks {
		return "lists:chunks\r\n"
	}
	return "lists:elements\r\n"
}
