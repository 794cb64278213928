package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/loadtest"
	"github.com/ringside-kv/ringside/resp/status"
)

const statusLong = `Show the cluster at a glance, as any one of its nodes sees it: the nodes with their
load, what is being moved and how far that is, and which node has what.

  P, S       ranges that the node serves, and of which it keeps a copy
  share %    the part of all places for keys that it serves
  keys       estimated, of what it serves; so are bytes
  vote       who takes part in agreeing on the placement, and who leads
  ranges     of a handoff: those that have not changed hands yet

Strategy buckets is drawn as a grid with a column for each bucket, the others as bars.
Lines that begin with ! are about something that is not as it should be.

Exit code 0, or 1 if the node cannot be reached or does not tell. The same is to be
had by any Redis client: RING STATUS, and RING STATUS JSON for programs.`

const statusExample = `  ringside status
  ringside status --addr 10.0.0.7:6379 --watch
  ringside status --watch 5s --json
  RINGSIDE_REQUIREPASS=secret ringside status --tls yes --tls-ca ca.pem`

func (a *app) statusCommand() *cobra.Command {
	o := defaultStatusOptions()
	set := o.settings()
	cmd := &cobra.Command{
		Use:     "status [flags]",
		Short:   "Show the cluster at a glance",
		Long:    statusLong,
		Example: statusExample,
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print what there is to tell as JSON; with --watch, a report a line")
	cmd.Flags().StringVar(&o.watch, "watch", "", "show it again and again until Ctrl-C: every 2s, or as often as a time after it says")
	cmd.Flags().Lookup("watch").NoOptDefVal = defaultWatch
	resolve := func(cmd *cobra.Command, rest []string) (*status.Source, error) {
		return o.resolve(set, a.ownArgs(cmd), rest, a.environ)
	}
	readSettings(cmd, set, func(cmd *cobra.Command, rest []string) error {
		_, faults := resolve(cmd, rest)
		return faults
	})
	cmd.RunE = func(cmd *cobra.Command, rest []string) error {
		source, err := resolve(cmd, rest)
		if err != nil {
			return err
		}
		ctx, end := loadtest.StopContext(context.Background())
		defer end()
		if o.interval > 0 {
			w := watcher{fetch: source.Fetch, timeout: o.timeout, interval: o.interval, json: o.json, out: a.stdout, errors: a.stderr}
			return w.run(ctx)
		}
		ctx, cancel := context.WithTimeout(ctx, o.timeout)
		defer cancel()
		report, err := source.Fetch(ctx)
		if err == nil {
			err = o.print(a.stdout, report)
		}
		if err != nil {
			fmt.Fprintf(a.stderr, "ringside: %v\n", err)
			return errFailed
		}
		return nil
	}
	return cmd
}

func (o *statusOptions) print(w io.Writer, r *status.Report) error {
	if !o.json {
		return status.Draw(w, r, columns(w))
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// defaultWatch is how often --watch shows the cluster if nothing else is given.
const defaultWatch = "2s"

// leastWatch keeps a slip from keeping all nodes busy.
const leastWatch = 100 * time.Millisecond
