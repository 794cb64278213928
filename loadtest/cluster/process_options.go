package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ProcessOptions are what a command that runs nodes can be told about them.
type ProcessOptions struct {
	Binary   string
	Dir      string
	Strategy string
	Serve    string
	Profile  string
	Verbose  bool
}

// Flags defines the flags that set the options; the strategy is the one that they have.
func (o *ProcessOptions) Flags(f *flag.FlagSet) {
	f.StringVar(&o.Binary, "binary", o.Binary, "ringside to run; built when empty")
	f.StringVar(&o.Dir, "dir", o.Dir, "where the nodes keep their data; a temporary directory when empty")
	f.StringVar(&o.Strategy, "strategy", o.Strategy, "buckets, ketama, vnode or another strategy of ringside serve")
	f.StringVar(&o.Serve, "serve", o.Serve, "further flags of ringside serve")
	f.BoolVar(&o.Verbose, "verbose", o.Verbose, "show what goes on: what the nodes log, or what is done to them")
}

// ProfileFlag defines the flag for profiles, for commands that have them made.
func (o *ProcessOptions) ProfileFlag(f *flag.FlagSet, what string) {
	f.StringVar(&o.Profile, "profile", o.Profile, "directory for processor profiles of the nodes, "+what)
}

// Prepare makes a directory and the binary where none were given. tidy removes the
// directory if it was made.
func (o *ProcessOptions) Prepare(ctx context.Context, command string) (tidy func() error, err error) {
	tidy = func() error { return nil }
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp("", "ringside-"+command+"-"); err != nil {
			return tidy, err
		}
		dir := o.Dir
		tidy = func() error { return os.RemoveAll(dir) }
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return tidy, err
	}
	if o.Binary == "" {
		if o.Binary, err = Build(ctx, o.Dir); err != nil {
			return tidy, errors.Join(err, tidy())
		}
	}
	return tidy, nil
}

// Start starts a node, which joins those that are there.
func (o *ProcessOptions) Start(ctx context.Context, id string, crew []*Process, flags ...string) (*Process, error) {
	how := ProcessConfig{Binary: o.Binary, ID: id, Dir: filepath.Join(o.Dir, id), Log: os.Stderr}
	if o.Strategy != "" {
		how.Flags = append(how.Flags, "--strategy", o.Strategy)
	}
	level := "error"
	if o.Verbose {
		level = "info"
	}
	how.Flags = append(append(how.Flags, "--log-level", level), slices.Concat(flags, strings.Fields(o.Serve))...)
	if len(crew) > 0 {
		how.Join = crew[0].Gossip
	}
	return StartProcess(ctx, how)
}

// StartAll starts n1 to nN, one after the other.
func (o *ProcessOptions) StartAll(ctx context.Context, n int, flags ...string) (crew []*Process, err error) {
	for i := range n {
		node, err := o.Start(ctx, fmt.Sprint("n", i+1), crew, flags...)
		if err != nil {
			return crew, err
		}
		crew = append(crew, node)
	}
	return crew, nil
}

// StopProcesses ends nodes in order, the last first.
func StopProcesses(crew []*Process) (err error) {
	for _, n := range slices.Backward(crew) {
		err = errors.Join(err, n.Stop())
	}
	return err
}

// WaitBalanced waits until every range has its copies, every node its share, and nothing moves.
func WaitBalanced(ctx context.Context, crew []*Process) error {
	for _, n := range crew {
		err := n.Until(ctx, "has its share, and all ranges their copies", func(info map[string]int64) bool {
			return info["primaries"] > 0 && info["backups"] > 0 && info["ranges_short_of_backups"] == 0 &&
				info["handoffs_running"] == 0 && info["pending_bytes"] == 0
		})
		if err != nil {
			return err
		}
	}
	return nil
}
