package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/loadtest"
)

// readSettings gives a command the flags of set. resolve, which gets the command's arguments, returns
// all that is wrong with them; it is asked after a faulty flag, too, so that all faults are reported
// at once.
func readSettings(cmd *cobra.Command, set *settings.Set, resolve func(cmd *cobra.Command, rest []string) error) {
	cmd.Args = cobra.ArbitraryArgs // resolve reports them with the rest
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	set.AddTo(cmd)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return errors.Join(append([]error{err}, parts(resolve(cmd, nil))...)...)
	})
}

// withSettings is readSettings for a command that runs, once resolve has found no fault, until it
// ends or the process is told to stop.
func withSettings(cmd *cobra.Command, set *settings.Set, resolve func(cmd *cobra.Command, rest []string) error, run func(ctx context.Context) error) {
	readSettings(cmd, set, resolve)
	cmd.RunE = func(cmd *cobra.Command, rest []string) error {
		if err := resolve(cmd, rest); err != nil {
			return err
		}
		ctx, end := loadtest.StopContext(context.Background())
		defer end()
		return run(ctx)
	}
}
