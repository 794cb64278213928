package functions

import (
	"errors"
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/script"
	"github.com/ringside-kv/ringside/resp/wire"
)

// engine is the one language that functions can be written in.
const engine = "LUA"

// parse reads the line that a library begins with. body is the code behind it, with the end of that line, so
// that lines keep their numbers. The errors are those of Redis.
func parse(code string) (name, body string, err error) {
	if !strings.HasPrefix(code, "#!") {
		return "", "", errors.New("ERR Missing library metadata")
	}
	end := strings.IndexAny(code, "\n\x00")
	if end < 0 || code[end] == 0 {
		return "", "", errors.New("ERR Invalid library metadata")
	}
	words, err := wire.SplitInline([]byte(code[:end]), nil)
	if err != nil || len(words) == 0 {
		return "", "", errors.New("ERR Invalid library metadata")
	}
	named := false
	for _, word := range words[1:] {
		const option = "name="
		switch {
		case len(word) < len(option) || !strings.EqualFold(string(word[:len(option)]), option):
			return "", "", errors.New("ERR Invalid metadata value given: " + string(command.Shown(word, 128)))
		case named:
			return "", "", errors.New("ERR Invalid metadata value, name argument was given multiple times")
		}
		name, named = string(word[len(option):]), true
	}
	language := words[0][min(len("#!"), len(words[0])):]
	switch {
	case !named:
		return "", "", errors.New("ERR Library name was not given")
	case !script.IsName(name):
		return "", "", errors.New("ERR " + script.MsgName)
	case !strings.EqualFold(string(language), engine):
		return "", "", errors.New("ERR Engine '" + string(command.Shown(language, 128)) + "' not found")
	}
	return name, code[end:], nil
}
