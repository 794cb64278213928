package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/resp/importer"
)

const importLong = `Take the keys of Redis, Valkey and their like over into a cluster: all types, expiry
times and databases.

With --from, the server is followed as its replicas follow it: all keys are copied, and
then those that change, until Ctrl-C, or with --once until the cluster has caught up.
Clients of the source keep working. With --state, an import that was ended or killed resumes
where it was, and the data is the same as without the interruption; a state file of another
source, cluster or choice of keys is refused. Keys that change are read again as a whole,
so a large collection that changes all the time costs its size each time. The cluster must
be empty at the beginning, but for databases that --db does not name; --merge lets other
keys stay.

With --rdb, the keys of a file are written. A key that the cluster has already gets the
value of the file, other keys stay. A damaged file gives an error with the offset of the
damage; what the counts say is written by then, and no more.

--verify compares both sides instead: types, values whatever their encoding, and expiry
times, and lists keys that differ.

What cannot be taken, such as values of modules, is counted and listed, and the exit code
is 1.

Exit code 0 if all was taken, or is equal, 1 if not or if it failed, 2 for a wrong command line, 130
after Ctrl-C.`

const importExample = `  ringside import --from redis://10.0.0.1:6379 --to 10.0.0.7:6379 --state import.state
  RINGSIDE_FROM_PASSWORD=secret ringside import --from rediss://old:6380 --to :6379 --once
  ringside import --from redis://10.0.0.1:6379 --to 10.0.0.7:6379 --verify
  ringside import --from 'redis://a:6379?name=s1' --from 'redis://b:6379?name=s2&weight=2' --pool twemproxy --to :7000
  ringside import cutover --from redis://10.0.0.1:6379 --state import.state
  ringside import --rdb dump.rdb --to 10.0.0.7:6379
  ssh old-host cat /var/lib/redis/dump.rdb | ringside import --rdb - --to :6379
  ringside import --rdb dump.rdb --to a:6379,b:6379 --db 0=0 --db 3=1 --match 'user:*'`

func (a *app) importCommand() *cobra.Command {
	o := new(importOptions)
	set := o.settings()
	cmd := &cobra.Command{
		Use:     "import [flags]",
		Short:   "Take over the keys of Redis or Valkey",
		Long:    importLong,
		Example: importExample,
	}
	cmd.Flags().BoolVar(&o.verify, "verify", false, "compare both sides, and write nothing")
	cmd.Flags().BoolVar(&o.once, "once", false, "with --from: end when the cluster has caught up with the source")
	cmd.Flags().BoolVar(&o.follow.Merge, "merge", false, "with --from: let keys stay that the cluster has already")
	withSettings(cmd, set, func(cmd *cobra.Command, rest []string) error {
		return o.resolve(set, a.ownArgs(cmd), rest, a.environ)
	}, func(ctx context.Context) error { return a.runImport(ctx, o, cmd.InOrStdin()) })
	cmd.AddCommand(a.cutoverCommand())
	return cmd
}

func (a *app) runImport(ctx context.Context, o *importOptions, stdin io.Reader) error {
	o.config.Stats = new(importer.Stats)
	o.follow.Config, o.follow.Once = o.config, o.once
	sources, counts := o.sources()
	began := time.Now()
	stop := showProgress(a.stderr, counts)
	var err error
	var comparison *importer.Comparison
	if o.rdb != "" {
		comparison, err = o.file(ctx, stdin)
	} else {
		comparison, err = o.followAll(ctx, sources)
	}
	stop()
	if o.verify {
		return a.endComparison(ctx, comparison, err)
	}
	return a.endImport(ctx, counts(), time.Since(began), err)
}

// file imports an RDB file, or compares it.
func (o *importOptions) file(ctx context.Context, stdin io.Reader) (*importer.Comparison, error) {
	src := stdin
	if o.rdb != "-" {
		file, err := os.Open(o.rdb)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			o.config.Stats.SetTotal(info.Size())
		}
		src = file
	}
	if o.verify {
		return importer.VerifyFile(ctx, src, o.config)
	}
	return nil, importer.Load(ctx, src, o.config)
}

// endComparison prints what differs, and turns it into an exit code.
func (a *app) endComparison(ctx context.Context, c *importer.Comparison, err error) error {
	if err != nil {
		return a.failImport(ctx, err)
	}
	fmt.Fprintf(a.stdout, "compared   %d keys\ndifferent  %d\n", c.Keys, c.Different)
	for _, d := range c.Differences {
		fmt.Fprintf(a.stdout, "  %v\n", d)
	}
	if more := c.Different - int64(len(c.Differences)); more > 0 {
		fmt.Fprintf(a.stdout, "  and %d more\n", more)
	}
	if c.Different > 0 {
		return errFailed
	}
	return nil
}

// failImport reports an error, or that it was stopped.
func (a *app) failImport(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		for _, err := range parts(err) {
			if errors.Is(err, importer.ErrStillPaused) {
				fmt.Fprintf(a.stderr, "ringside: import: %v\n", err)
			}
		}
		fmt.Fprintln(a.stderr, "ringside: import: stopped")
		return errStopped
	}
	for _, err := range parts(err) {
		fmt.Fprintf(a.stderr, "ringside: import: %v\n", err)
	}
	return errFailed
}

// endImport prints what was done, and turns it into an exit code.
func (a *app) endImport(ctx context.Context, c importer.Counts, took time.Duration, err error) error {
	printCounts(a.stdout, c, took)
	switch {
	case err != nil:
		return a.failImport(ctx, err)
	case c.Lost > 0:
		fmt.Fprintf(a.stderr, "ringside: import: not all was taken: %s listed above\n", counted(c.Lost, "loss is", "losses are"))
		return errFailed
	}
	return nil
}

func printCounts(w io.Writer, c importer.Counts, took time.Duration) {
	rate := ""
	if took > 0 {
		rate = fmt.Sprintf(", %.0f keys/s", float64(c.Keys)/took.Seconds())
	}
	fmt.Fprintf(w, "keys       %d, %s of values, in %v%s\n", c.Keys, bytesText(c.Bytes), took.Round(time.Millisecond), rate)
	for _, line := range []struct {
		n    int64
		text string
	}{
		{c.Expired, "expired    %d, which had expired before\n"},
		{c.Filtered, "left out   %d, by --db or --match\n"},
		{c.Misplaced, "misplaced  %d, which the pool would look for at another server\n"},
		{c.Metadata, "metadata   of modules was left out at %d keys\n"},
		{c.Changes, "changed    %d keys were read again because they had changed\n"},
	} {
		if line.n > 0 {
			fmt.Fprintf(w, line.text, line.n)
		}
	}
	if c.Lost > 0 {
		fmt.Fprintf(w, "not taken  %d\n", c.Lost)
		for _, l := range c.Losses {
			fmt.Fprintf(w, "  %v\n", l)
		}
		if more := c.Lost - len(c.Losses); more > 0 {
			fmt.Fprintf(w, "  and %d more\n", more)
		}
	}
	if c.Received > 0 {
		fmt.Fprintf(w, "behind     by %s of the source's stream, %d keys\n", bytesText(c.Received-c.Applied), c.Waiting)
	}
	for _, note := range c.Notes {
		fmt.Fprintf(w, "note       %s\n", note)
	}
}

func bytesText(n int64) string {
	const unit = 1 << 10
	f, names := float64(n), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for len(names) > 1 && f >= unit {
		f, names = f/unit, names[1:]
	}
	if names[0] == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, names[0])
}
