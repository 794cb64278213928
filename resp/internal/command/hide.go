package command

import "github.com/ringside-kv/ringside/resp/wire"

// What MONITOR, the slow log and the audit log do not show of commands.

// HidePassword hides the arguments of AUTH.
func HidePassword(args [][]byte, hide func(from, to int)) { hide(1, len(args)) }

// HideHello hides name and password behind HELLO's AUTH.
func HideHello(args [][]byte, hide func(from, to int)) {
	for i := 1; i < len(args); i++ { // also without the version, which is an error
		switch {
		case wire.EqualFold(args[i], "auth"):
			hide(i+1, i+3)
			i += 2
		case wire.EqualFold(args[i], "setname"):
			i++
		}
	}
}

// HideMigrate hides the password behind MIGRATE's AUTH, and name and password behind AUTH2.
func HideMigrate(args [][]byte, hide func(from, to int)) {
	for i := 6; i < len(args); i++ {
		switch {
		case wire.EqualFold(args[i], "auth"):
			i++
			hide(i, i+1)
		case wire.EqualFold(args[i], "auth2"):
			hide(i+1, i+3)
			i += 2
		case wire.EqualFold(args[i], "keys"):
			return
		}
	}
}
