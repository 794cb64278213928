package wire

import "bytes"

// ErrorLine returns the text of a reply, if that is an error.
func ErrorLine(reply []byte) (line string, is bool) {
	if len(reply) == 0 || reply[0] != '-' {
		return "", false
	}
	text, _, _ := bytes.Cut(reply[1:], []byte("\r\n"))
	return string(text), true
}

// OnOff reads ON or OFF.
func OnOff(word []byte) (on, ok bool) {
	on = EqualFold(word, "on")
	return on, on || EqualFold(word, "off")
}
