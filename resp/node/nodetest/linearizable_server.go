package nodetest

import (
	"fmt"
	"strconv"
	"strings"
)

// serve is what one server does: the value after a command, and the reply. "" is no
// value. Errors begin with "!".
func serve(value string, o *Op) (next, reply string) {
	switch o.Command {
	case "GET":
		return value, value
	case "STRLEN":
		return value, strconv.Itoa(len(value))
	case "SET":
		return o.Arg, "OK"
	case "SETNX":
		if value != "" {
			return value, "0"
		}
		return o.Arg, "1"
	case "APPEND":
		return value + o.Arg, strconv.Itoa(len(value) + len(o.Arg))
	case "DEL":
		if value == "" {
			return "", "0"
		}
		return "", "1"
	case "INCR":
		if value == "" {
			value = "0"
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || strings.HasPrefix(value, "+") {
			return value, "!ERR"
		}
		return strconv.FormatInt(n+1, 10), strconv.FormatInt(n+1, 10)
	}
	panic(fmt.Sprintf("nodetest: no such command: %s", o.Command))
}
