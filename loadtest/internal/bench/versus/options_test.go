package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestOptionsReportEveryFault(t *testing.T) {
	_, err := parseOptions([]string{"--rounds", "0", "--clients", "99999", "--keys", "-1", "--load", "hammer",
		"--only", "(", "--dir", "does/not/exist", "--ringside", "./no-such-binary", "extra"}, io.Discard)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"--rounds: 0", "--clients: 99999", "--keys: -1", `"hammer"`, "--only:", "--dir:", "--ringside:", `"extra"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
}

func TestRunRefusesFaults(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--nonsense", "nonsense"},
		{"--rounds many", "many"},
		{"--only no-such-workload", "SET 64B P16 everysec"},
	} {
		var stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(tt.args), io.Discard, &stderr); code != exitUsage {
			t.Errorf("%s: exit code %d", tt.args, code)
		}
		if !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("%s: %q is not in\n%s", tt.args, tt.want, &stderr)
		}
	}
}

func TestHelpFitsTheTerminal(t *testing.T) {
	var help bytes.Buffer
	if _, err := parseOptions([]string{"--help"}, &help); !errors.Is(err, pflag.ErrHelp) {
		t.Fatal(err)
	}
	checkWidth(t, help.String())
}

func TestQuickKeepsGivenOptions(t *testing.T) {
	opt, err := parseOptions([]string{"--quick", "--keys", "77"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if opt.keys != 77 || opt.rounds != quickRounds || opt.requests != quickRequests {
		t.Errorf("%+v", opt)
	}
}
