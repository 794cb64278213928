package resp

import (
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

const listOfErrors = "return {{err = 'X y'}, redis.pcall('incr','k'), {err = 'Y z'}}"

// scriptsWithErrors fail, catch errors, make some of their own, or call commands that are not run.
var scriptsWithErrors = []string{
	"return redis.call('incr','k')",
	"return redis.pcall('incr','k')",
	"redis.pcall('incr','k') return 1",
	"local e = redis.pcall('incr','k') e.err = 'FOO bar' return e",
	"return {err = redis.pcall('incr','k').err}",
	"local e = redis.pcall('incr','k') e.ignore_error_stats_update = nil return e",
	"error(redis.pcall('incr','k'))",
	"local ok, e = pcall(redis.call,'incr','k') return e",
	"local ok, e = pcall(redis.call,'incr','k') error(e)",
	"return redis.call('nosuch')",
	"return redis.pcall('nosuch')",
	"redis.pcall('nosuch') return 1",
	"return redis.call('get')",
	"redis.pcall('get') return 1",
	"return redis.pcall()",
	"return redis.pcall({})",
	"redis.call('subscribe', 'x')",
	"redis.call('multi')",
	"#!lua flags=no-writes\nreturn redis.call('set','k','v')",
	"error('x')",
	"error({err = 'X y'})",
	"error({err = 'X y', ignore_error_stats_update = true})",
	"return {err = 'x'}",
	"return {err = 'X y', ignore_error_stats_update = true}",
	"return {err = 'X y', ignore_error_stats_update = false}",
	"return redis.error_reply('X y')",
	"return redis.error_reply('x')",
	"return redis.error_reply()",
	listOfErrors,
	"redis.setresp(5)",
	"return nosuch",
	"this is no script",
}

func TestErrorsOfScriptsAreCountedAsByRedis(t *testing.T) {
	real := resptest.Dial(t, redistest.Start7(t), 2)
	_, addr := serveTest(t, nil)
	here := resptest.Dial(t, addr, 2)
	// counts runs a script, and returns what INFO says of its errors.
	counts := func(o *resptest.Conn, commands ...[]string) string {
		o.Do("SET", "k", "v")
		o.Do("CONFIG", "RESETSTAT")
		for _, args := range commands {
			o.Do(args...)
		}
		var lines []string
		for _, section := range []string{"stats", "errorstats", "commandstats"} {
			for line := range strings.Lines(o.Do("INFO", section).Text) {
				name, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
				if _, failures, ok := strings.Cut(rest, ",rejected_calls="); ok {
					lines = append(lines, name+": rejected "+failures)
				} else if name == "total_error_replies" || strings.HasPrefix(name, "errorstat_") {
					lines = append(lines, name+": "+rest)
				}
			}
		}
		slices.Sort(lines)
		if slices.ContainsFunc(commands, func(args []string) bool { return slices.Contains(args, listOfErrors) }) {
			// Redis counts two failures of one EVAL.
			lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "cmdstat_eval") })
		}
		return strings.Join(lines, "\n")
	}
	for _, body := range scriptsWithErrors {
		for _, commands := range [][][]string{
			{{"EVAL", body, "1", "k"}},
			{{"MULTI"}, {"EVAL", body, "1", "k"}, {"INCR", "k"}, {"EXEC"}},
		} {
			if want, got := counts(real, commands...), counts(here, commands...); got != want {
				t.Errorf("%q\ngot\n%s\nwant\n%s", commands, got, want)
			}
		}
	}
}
