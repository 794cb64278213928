package main

import (
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// A release sets these by -ldflags "-X main.version=v1.2.3 -X main.commit=… -X main.date=…".
// Other builds leave them empty, and have what the Go command records.
var version, commit, date string

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "version",
		Short:             "Print the version",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintln(cmd.OutOrStdout(), versionLine())
		},
	}
}

// versionName is the version alone: a release, a pseudo-version, or devel.
func versionName() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// A build says where the binary comes from. Commit and date are empty in a build without git.
type build struct {
	version, commit, date string // date is that of the commit, in RFC 3339
	modified              bool   // since the commit
}

func thisBuild() build {
	b := build{version: versionName(), commit: commit, date: date}
	info, ok := debug.ReadBuildInfo()
	if !ok || commit != "" {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.commit = s.Value
		case "vcs.time":
			b.date = s.Value
		case "vcs.modified":
			b.modified = s.Value == "true"
		}
	}
	return b
}

// source names the commit and its date, or says that they are not known.
func (b build) source() string {
	if b.commit == "" {
		return "commit unknown"
	}
	text := fmt.Sprintf("commit %.12s", b.commit)
	if b.date != "" {
		text += " of " + b.date
	}
	if b.modified {
		text += ", modified"
	}
	return text
}

func versionLine() string {
	b := thisBuild()
	return fmt.Sprintf("ringside %s (%s), %s %s/%s", b.version, b.source(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// logBuild writes the first line of a node's log.
func logBuild(log *slog.Logger) {
	b := thisBuild()
	log.Info("starting", "version", b.version, "source", b.source(), "go", runtime.Version(), "pid", os.Getpid())
}
