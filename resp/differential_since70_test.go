package resp

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Replies that differ since Redis 7.0, which the tests compare with. The new ones were written from what a
// server of 7.4 answers, and are checked by newerCommands.

// texts70 turn texts of Redis 7.4 into those of 7.0.
var texts70 = []struct {
	since70 *regexp.Regexp
	of70    string
}{
	{regexp.MustCompile(`NOPERM User \S* has no permissions to run`), "NOPERM this user has no permissions to run"},
	{regexp.MustCompile(`NOPERM No permissions to access a (key|channel)`), "NOPERM this user has no permissions to access one of the ${1}s used as arguments"},
	{regexp.MustCompile(`ERR ACL failure in script: No permissions to access a key`), "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments"},
	{regexp.MustCompile(`ERR ACL failure in script: No permissions to access a channel`), "ERR The user executing the script can't publish to the channel mentioned in the command"},
	{regexp.MustCompile(`ERR ACL failure in script: User \S* has no permissions to run the '[^']*' command`), "ERR The user executing the script can't run this command or subcommand"},
	{regexp.MustCompile(`^User \S* has no permissions to (run|access)`), "This user has no permissions to $1"},
	{regexp.MustCompile(`ERR Unbalanced 'xread(group)?' list of streams: for each stream key an ID or '[$>]' must be specified`), "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$$' must be specified"},
	{regexp.MustCompile(`ERR timeout is out of range`), "ERR timeout is negative"},
	{regexp.MustCompile(`ERR Invalid log level`), "ERR Invalid debug level"},
	{regexp.MustCompile(`redis.set_repl\(\) requires one argument`), "redis.set_repl() requires two arguments"},
}

// inWordsOf70 turns texts of a reply into those of Redis 7.0.
func inWordsOf70(v *resptest.Value) {
	for i := range v.Elems {
		inWordsOf70(&v.Elems[i])
	}
	if v.Kind != '-' && !strings.HasPrefix(v.Text, "User ") {
		return
	}
	for _, t := range texts70 {
		v.Text = t.since70.ReplaceAllString(v.Text, t.of70)
	}
}

var doubleText = regexp.MustCompile(`^-?\d+(\.\d+)?(e[+-]\d+)?$`)

// inOneSpelling has each double in the spelling of Redis since 7.2, the shortest one, calls each list a
// listpack, as small ones are since then, and takes the flag sanitize-payload of users away, which all have.
func inOneSpelling(args []string, v *resptest.Value) {
	for i := 0; i < len(v.Elems); i++ {
		if inOneSpelling(args, &v.Elems[i]); v.Elems[i].Text == "sanitize-payload" {
			v.Elems = slices.Delete(v.Elems, i, i+1)
			i--
		}
	}
	if strings.EqualFold(args[0], "ACL") {
		v.Text = strings.ReplaceAll(v.Text, " sanitize-payload", "")
	}
	if len(args) > 1 && v.Text == "quicklist" && strings.EqualFold(args[1], "encoding") {
		v.Text = "listpack"
	}
	if v.Kind == '-' || len(v.Text) > 32 || !strings.ContainsAny(v.Text, ".e") && len(v.Text) < 16 || !doubleText.MatchString(v.Text) {
		return
	}
	if f, err := strconv.ParseFloat(v.Text, 64); err == nil && strconv.FormatFloat(f, 'g', 17, 64) == v.Text {
		v.Text = string(wire.AppendFloat(nil, f))
	}
}

// smallSetsOf70 has a server call sets of words hashtables, as Redis 7.0 does.
func smallSetsOf70(t *testing.T, o *resptest.Conn) {
	t.Helper()
	o.Want("+OK", "CONFIG", "SET", "set-max-listpack-entries", "0")
}
