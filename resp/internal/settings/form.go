package settings

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A form is how Redis reads the values of a parameter: it returns a value as CONFIG GET shows it,
// or Redis' error text.
type form func(value string) (shown, fault string)

// Error texts of Redis.
const (
	faultImmutable = "can't set immutable config"
	faultProtected = "can't set protected config"
	faultNumber    = "argument couldn't be parsed into an integer"
	faultMemory    = "argument must be a memory value"
	faultYesNo     = "argument must be 'yes' or 'no'"
	faultTLS       = "Unable to update TLS configuration. Check server logs."
	faultCount     = "wrong number of arguments"
	// FaultEvents is for a letter that notify-keyspace-events does not know.
	FaultEvents = "Invalid event class character. Use 'Ag$lshzxeKEtmdn'."
)

// Largest values of C's types, which are Redis' upper bounds.
const (
	maxInt  = math.MaxInt32
	maxLong = math.MaxInt64
)

func yesNoForm(value string) (shown, fault string) {
	switch {
	case wire.EqualFold([]byte(value), "yes"):
		return "yes", ""
	case wire.EqualFold([]byte(value), "no"):
		return "no", ""
	}
	return "", faultYesNo
}

// anyText is the form of a text that Redis does not look at.
func anyText(value string) (shown, fault string) { return value, "" }

// numbers is the form of a whole number.
func numbers(least, most int64) form {
	in := Bounds{least, most}
	return func(value string) (string, string) {
		n, ok := wire.ParseInt([]byte(value))
		switch {
		case !ok:
			return "", faultNumber
		case !in.has(n):
			return "", in.fault()
		}
		return strconv.FormatInt(n, 10), ""
	}
}

// sizes is the form of a number of bytes.
func sizes(least, most uint64) form {
	return func(value string) (string, string) {
		n, ok := parseBytes(value)
		switch {
		case !ok:
			return "", faultMemory
		case n < least || n > most:
			return "", fmt.Sprintf("argument must be between %d and %d inclusive", least, most)
		}
		return strconv.FormatUint(n, 10), ""
	}
}

// oneOf is the form of a word out of several.
func oneOf(words ...string) form {
	return func(value string) (string, string) {
		for _, word := range words {
			if wire.EqualFold([]byte(value), word) {
				return word, ""
			}
		}
		return "", faultWords(words)
	}
}

func faultWords(words []string) string {
	return "argument(s) must be one of the following: " + strings.Join(words, ", ")
}

// shutdownForm is that of the options of SHUTDOWN at a signal.
func shutdownForm(value string) (shown, fault string) {
	words := []string{"default", "save", "nosave", "now", "force"}
	given := map[string]bool{}
	for _, arg := range arguments(value) {
		word, _ := oneOf(words...)(arg)
		given[word] = true
	}
	if len(given) == 0 || given[""] {
		return "", faultWords(words)
	}
	if given["save"] && given["nosave"] {
		return "", "shutdown options SAVE and NOSAVE can't be used simultaneously"
	}
	for _, word := range words[1:] {
		if given[word] {
			shown += " " + word
		}
	}
	if shown == "" {
		return "default", ""
	}
	return shown[1:], ""
}

// oomForm is that of oom-score-adj, where relative is another word for yes.
func oomForm(value string) (shown, fault string) {
	shown, fault = oneOf("no", "yes", "relative", "absolute")(value)
	if shown == "relative" {
		shown = "yes"
	}
	return shown, fault
}

// arguments splits a value at each space, as Redis does: two spaces have an empty one between them.
func arguments(value string) []string {
	if value == "" {
		return nil
	}
	return strings.Split(value, " ")
}

// looseInt reads a number as strtoll of C does, if nothing follows it. An empty text is 0.
func looseInt(text string) (int64, bool) {
	digits := strings.TrimLeft(text, "\t\n\v\f\r")
	if digits == "" {
		return 0, text == ""
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

func oomValuesForm(value string) (shown, fault string) {
	args := arguments(value)
	if len(args) != 3 {
		return "", faultCount
	}
	for i, arg := range args {
		n, ok := looseInt(arg)
		if !ok || n < -2000 || n > 2000 {
			return "", "Invalid oom-score-adj-values, elements must be between -2000 and 2000."
		}
		args[i] = strconv.FormatInt(n, 10)
	}
	return strings.Join(args, " "), ""
}

// saveForm is that of save: pairs of seconds and changes.
func saveForm(value string) (shown, fault string) {
	args := arguments(value)
	ok := len(args)%2 == 0
	for i, arg := range args {
		n, isInt := looseInt(arg)
		ok = ok && isInt && n >= int64(1-i%2)
		args[i] = strconv.FormatInt(n, 10)
	}
	if !ok {
		return "", "Invalid save parameters"
	}
	return strings.Join(args, " "), ""
}

func hostnameForm(value string) (shown, fault string) {
	if len(value) >= 256 {
		return "", "Hostnames must be less than 256 characters"
	}
	for _, c := range []byte(value) {
		if !(c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.') {
			return "", "Hostnames may only contain alphanumeric characters, hyphens or dots"
		}
	}
	return value, ""
}

// titleForm is that of the template of a process title. It must not come to nothing but spaces; the
// variables title, server-mode and unixsocket can be empty.
func titleForm(value string) (shown, fault string) {
	fault = "template format is invalid or contains unknown variables"
	result := ""
	for rest := value; rest != ""; {
		before, after, found := strings.Cut(rest, "{")
		result += before
		if !found {
			break
		}
		if quoted, ok := strings.CutPrefix(after, "{"); ok {
			result, rest = result+"{", quoted
			continue
		}
		name, behind, closed := strings.Cut(after, "}")
		if !closed {
			return "", fault
		}
		switch name {
		case "title", "server-mode", "unixsocket":
		case "listen-addr", "config-file", "port", "tls-port":
			result += name
		default:
			return "", fault
		}
		rest = behind
	}
	if strings.Trim(result, " ") == "" {
		return "", fault
	}
	return value, ""
}

// percentilesForm is that of latency-tracking-info-percentiles.
func percentilesForm(value string) (shown, fault string) {
	args := arguments(value)
	for i, arg := range args {
		if strings.HasPrefix(arg, "0x") {
			arg += "p0" // which C's hexadecimal numbers need not have
		}
		p, err := strconv.ParseFloat(arg, 64)
		switch {
		case err != nil || p != p:
			return "", "Invalid latency-tracking-info-percentiles parameters"
		case p < 0 || p > 100:
			return "", "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]"
		}
		text := strconv.FormatFloat(p, 'f', 6, 64)
		args[i] = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return strings.Join(args, " "), ""
}

// never is the form of a switch that cannot be turned on, with the reason.
func never(fault string) form {
	return func(value string) (string, string) {
		shown, invalid := yesNoForm(value)
		if shown == "yes" {
			return "", fault
		}
		return shown, invalid
	}
}

// backlogForm is that of repl-backlog-size, which Redis does not let be smaller than 16 KiB.
func backlogForm(value string) (shown, fault string) {
	if shown, fault = sizes(1, maxLong)(value); fault == "" {
		n, _ := parseBytes(shown)
		shown = strconv.FormatUint(max(n, 16<<10), 10)
	}
	return shown, fault
}

// hzForm is that of hz, which Redis brings into its bounds.
func hzForm(value string) (shown, fault string) {
	if shown, fault = numbers(0, maxInt)(value); fault == "" {
		n, _ := wire.ParseInt([]byte(shown))
		shown = strconv.FormatInt(min(max(n, 1), 500), 10)
	}
	return shown, fault
}

// sizeOrPercent is the form of a number of bytes, or of a share of maxmemory.
func sizeOrPercent(value string) (shown, fault string) {
	if n, ok := parseBytes(value); ok && n <= maxLong {
		return strconv.FormatUint(n, 10), ""
	} else if ok {
		return "", "percentage argument must be less or equal to 100"
	}
	digits, isPercent := strings.CutSuffix(value, "%")
	n, ok := wire.ParseInt([]byte(digits))
	switch {
	case !isPercent || !ok || n < 0:
		return "", "argument must be a memory or percent value"
	case n > 100:
		return "", "percentage argument must be less or equal to 100"
	}
	return value, ""
}
