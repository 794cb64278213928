package settings

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func TestPrintIsAFileThatGivesTheSame(t *testing.T) {
	d := newDemo()
	if err := d.load([]string{"--addr", "[::1]:0", "--fast-mode=no"}, "DEMO_CACHE=2mb", "DEMO_IDLE_TIMEOUT=90"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := d.set.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Things", "# from --addr", "# from DEMO_CACHE", "cache: 2mb", "idle-timeout: 1m30s"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	again := newDemo()
	if err := again.load([]string{"--config", yamlFile(t, out.String())}); err != nil {
		t.Fatal(err)
	}
	if again.addr != "[::1]:0" || again.fast || again.size != 2<<20 || again.idle != 90*time.Second || again.max != 10 || again.pass != "" {
		t.Errorf("read again: %+v", again)
	}
}

func TestPrintMasksSecrets(t *testing.T) {
	d := newDemo()
	if err := d.load(nil, "DEMO_REQUIREPASS=hunter2"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := d.set.Print(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "hunter2") || !strings.Contains(out.String(), mask) {
		t.Errorf("\n%s", &out)
	}
}

func TestUsage(t *testing.T) {
	d := newDemo()
	cmd := &cobra.Command{Use: "demo [flags]", Example: "  demo --addr x", Run: func(*cobra.Command, []string) {}}
	d.set.AddTo(cmd)
	usage := cmd.UsageString()
	for _, want := range []string{"demo [flags]", "  demo --addr x\n", "\nThings:\n", "\nMore:\n",
		"  --cache size", "(default 1mb)", "(default 1m)", "  --fast-mode yes|no"} {
		if !strings.Contains(usage, want) {
			t.Errorf("no %q in\n%s", want, usage)
		}
	}
	for _, line := range strings.Split(usage, "\n") {
		if len(line) > lastColumn || strings.TrimRight(line, " ") != line {
			t.Errorf("line %q", line)
		}
	}
}

func TestNearest(t *testing.T) {
	d := newDemo()
	for unknown, want := range map[string]string{
		"adr": "addr", "ADDR": "addr", "max_clients": "max-clients", "maxclients": "max-clients", "max": "max-clients",
		"idle": "idle-timeout", "cach": "cache", "port": "addr", "zzz": "", "": "", "x": "", "completely-different": "",
	} {
		if got := d.set.nearest(unknown); got != want {
			t.Errorf("nearest(%q) = %q, want %q", unknown, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"cache", "cache", 0}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
