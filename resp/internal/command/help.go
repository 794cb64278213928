package command

// Help replies as HELP subcommands do: a headline, the given lines, and HELP
// itself. A line is the syntax of a subcommand or, indented by four spaces, what
// it does.
func Help(x *Call, name string, lines ...string) {
	x.Array(len(lines) + 3)
	x.Simple(name + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, line := range lines {
		x.Simple(line)
	}
	x.Simple("HELP")
	x.Simple("    Print this help.")
}

// WrongSubcommand replies as Redis does where a subcommand does not have the
// arguments that its arity lets through.
func (x *Call) WrongSubcommand(container string) {
	x.Error("ERR unknown subcommand or wrong number of arguments for '" + string(Shown(x.Args[1], 128)) +
		"'. Try " + container + " HELP.")
}

// refused is the handler of a command that is only there to say why it is not.
func refused(msg string) func(*Call) {
	return func(x *Call) { x.Error(msg) }
}
