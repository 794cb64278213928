package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/resp/importer"
)

const cutoverLong = `Pause the writes of the source's clients until the import, which runs meanwhile, has
applied all of them, and print how long that took. Reads are not paused. After that writes
resume at once, or after --hold, in which the applications can be sent to the cluster.

If the import does not run, is far behind, or does not catch up in time, nothing stays
paused, and the exit code is 1. Ctrl-C ends the pause, too. If the source cannot be told so,
the error says until when writes are paused. The source is a primary of Redis 6.2 or later, or of Valkey;
the import may follow a replica of it. Ringside is refused as a source, since a pause holds
the clients of one of its nodes alone.`

const cutoverExample = `  ringside import cutover --from redis://10.0.0.1:6379 --state import.state
  ringside import cutover --from redis://10.0.0.1:6379 --state import.state --hold 30s`

func (a *app) cutoverCommand() *cobra.Command {
	o := new(importOptions)
	cfg := importer.CutoverConfig{Timeout: 10 * time.Second}
	set := settings.New(envPrefix)
	set.Group("Source")
	o.addSource(set)
	set.Add("state", settings.Text(&cfg.State, "FILE"), "state file of the import that runs", settings.Files())
	set.Add("timeout", settings.Duration(&cfg.Timeout), "how long writes are paused at most until the import has caught up")
	set.Add("hold", settings.Duration(&cfg.Hold), "how long writes stay paused after that; CLIENT UNPAUSE at the source ends it")
	set.Exempt(func(string, string) bool { return true })
	cmd := &cobra.Command{
		Use:     "cutover [flags]",
		Short:   "Pause writes at the source until all are in the cluster",
		Long:    cutoverLong,
		Example: cutoverExample,
	}
	withSettings(cmd, set, func(cmd *cobra.Command, rest []string) error {
		faults := parts(set.Load(a.ownArgs(cmd), rest, a.environ))
		fault := func(flag, format string, args ...any) {
			faults = append(faults, &settings.Fault{Source: set.Where(flag), Text: fmt.Sprintf(format, args...)})
		}
		if len(o.from) == 0 {
			fault("from", "missing: the source, such as redis://127.0.0.1:6379")
		}
		if cfg.State == "" {
			fault("state", "missing: the state file of the import")
		}
		if cfg.Timeout <= 0 {
			fault("timeout", "%v leaves no time to catch up", cfg.Timeout)
		}
		if cfg.Hold < 0 {
			fault("hold", "%v is negative", cfg.Hold)
		}
		if len(o.from) > 1 {
			fault("from", "is given %d times: cut over one source after the other", len(o.from))
		}
		o.resolveSource(fault)
		return errors.Join(faults...)
	}, func(ctx context.Context) error {
		cfg.Source = o.follow.Source
		r, err := importer.Cutover(ctx, cfg)
		if r != nil {
			fmt.Fprintf(a.stdout, "source   %s, at offset %d\napplied  %d\npause    %v\n", r.ReplicationID, r.Offset, r.Applied, r.Pause.Round(time.Millisecond))
			if !r.HeldUntil.IsZero() {
				fmt.Fprintf(a.stdout, "held     until %s: send the applications to the cluster\n", r.HeldUntil.Format(time.TimeOnly))
			}
		}
		if err != nil {
			return a.failImport(ctx, err)
		}
		return nil
	})
	return cmd
}
