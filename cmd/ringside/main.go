package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/cmd/ringside/memory"
)

// Exit codes, besides 0.
const (
	exitFailure = 1   // the log or the last line says why
	exitUsage   = 2   // the command line or the configuration is not valid
	exitStopped = 130 // a signal ended it early; what was done is in its output
)

func main() {
	a := app{args: os.Args[1:], environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, memory: memory.System}
	os.Exit(a.run())
}

// app is one run of the command, with what it is given.
type app struct {
	args, environ  []string
	stdin          io.Reader
	stdout, stderr io.Writer
	memory         func() memory.Limit // nil: not known
}

// errFailed is returned by a command that has already said why.
var errFailed = errors.New("failed")

// errStopped is returned by a command that a signal has ended before all was done.
var errStopped = errors.New("stopped early")

func (a *app) run() int {
	root := a.rootCommand()
	root.SetArgs(append([]string{}, a.args...)) // for nil the library would take the process's own
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	cmd, err := root.ExecuteC()
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFailed):
		return exitFailure
	case errors.Is(err, errStopped):
		return exitStopped
	default:
		a.report(cmd, err)
		return exitUsage
	}
}

// report writes every fault on a line of its own.
func (a *app) report(cmd *cobra.Command, err error) {
	for _, err := range parts(err) {
		fmt.Fprintf(a.stderr, "ringside: %s\n", strings.TrimSpace(err.Error()))
	}
	fmt.Fprintf(a.stderr, "See '%s --help'.\n", cmd.CommandPath())
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "ringside",
		Short: "A Redis-protocol store on disk",
		Long: `Ringside is a store that speaks the Redis protocol and keeps its data on disk.
Any Redis client works with it.`,
		Example: `  ringside serve                       serve on 127.0.0.1:6379, data in ./ringside-data
  ringside serve --addr :7000 --dir /var/lib/ringside --requirepass secret
  ringside serve --help                every setting, as flag, variable and file
  ringside status --watch              the cluster at a glance
  ringside healthy                     whether the node of this machine is healthy, for probes
  ringside locate --node a --node b k  the node that key k lies at
  ringside recover --dir d1            go on without a majority that is lost for good
  ringside import --rdb dump.rdb --to :6379   take over the keys of Redis
  ringside simulate                    what each placement strategy costs, without a server
  ringside completion bash --help      completion for your shell`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	// Cobra's own flag has a template, and with a template the linker keeps every method of every type.
	showVersion := root.Flags().Bool("version", false, "print the version")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *showVersion {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
			return err
		}
		return cmd.Help()
	}
	root.AddCommand(a.serveCommand(), a.locateCommand(), a.recoverCommand(), a.importCommand(), a.exportCommand(), a.backupCommand(), a.restoreCommand(), a.loadtestCommand(), a.simulateCommand(), a.statusCommand(), a.healthyCommand(), a.leaveCommand(), versionCommand())
	return root
}
