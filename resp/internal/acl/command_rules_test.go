package acl_test

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/resp/internal/acl"
)

// Rules about commands stay as they were given, but for those that a later one replaces. What is expected is what
// ACL LIST of a server of Redis 7.4 shows.
func TestCommandRulesStayAsGiven(t *testing.T) {
	c := acl.NewCatalog(table())
	for given, want := range map[string]string{
		"":                                 "-@all",
		"+@all":                            "+@all",
		"+@all -@all":                      "-@all",
		"+GET +set -get":                   "-@all +set -get",
		"-get":                             "-@all -get",
		"+@all +get":                       "+@all +get",
		"+@read -@write":                   "-@all +@read -@write",
		"+@all -@read -@write":             "+@all -@read -@write",
		"+@READ -get +@read":               "-@all -get +@read",
		"+@all -@admin +acl|whoami":        "+@all -@admin +acl|whoami",
		"+acl|whoami +acl":                 "-@all +acl",
		"+acl -acl|setuser":                "-@all +acl -acl|setuser",
		"-acl|setuser":                     "-@all -acl|setuser",
		"+get|a +get|b":                    "-@all +get|a +get|b",
		"+get|a +get|b +GET|A":             "-@all +get|b +get|a",
		"+get|a +get":                      "-@all +get",
		"+get|a -get":                      "-@all -get",
		"+@all +get|a":                     "+@all +get|a",
		"+get|a +@string":                  "-@all +get|a +@string",
		"-@all +@string -incr +debug|a":    "-@all +@string -incr +debug|a",
		"+@all -get +set nocommands +mget": "-@all +mget",
	} {
		u := acl.NewUser(c, "u", false)
		for rule := range strings.FieldsSeq(given) {
			if next, err := u.With(false, rule); err == nil {
				u = next
			}
		}
		if got := u.Selectors()[0].Commands; got != want {
			t.Errorf("%q are %q, want %q", given, got, want)
		}
		if want = "off sanitize-payload resetchannels " + want; u.Rules() != want {
			t.Errorf("%q: rules %q, want %q", given, u.Rules(), want)
		}
	}
}
