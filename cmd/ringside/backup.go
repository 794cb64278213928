package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/resp/backup"
	"github.com/ringside-kv/ringside/resp/client"
)

const backupLong = `Take a backup of the whole cluster as it is at one moment, while clients keep working: all
primaries hold writes for some milliseconds, pin what they have, and then send it. The
directory gets an RDB file for each node, and manifest.json, which is written last: a
directory without it is no backup.

With --verify, nothing is taken: all files of a backup are read, and everything that is wrong
with them is reported.

Backups of different times go into different directories. See ringside restore.

Exit code 0 if the backup is complete, or is in order, 1 if not, 2 for a wrong command
line, 130 after Ctrl-C.`

const backupExample = `  ringside backup --addr 10.0.0.7:6379 --to /backups/$(date +%F)
  ringside backup --verify /backups/2026-01-31`

// backupOptions are what flags of backup say.
type backupOptions struct {
	importOptions
	dir    string
	verify string
}

func (a *app) backupCommand() *cobra.Command {
	o := new(backupOptions)
	set := o.settings()
	cmd := &cobra.Command{
		Use:     "backup [flags]",
		Short:   "Back up the cluster as it is at one moment",
		Long:    backupLong,
		Example: backupExample,
	}
	withSettings(cmd, set, func(cmd *cobra.Command, rest []string) error {
		return o.resolve(set, a.ownArgs(cmd), rest, a.environ)
	}, func(ctx context.Context) error { return a.runBackup(ctx, o) })
	return cmd
}

func (o *backupOptions) settings() *settings.Set {
	s := settings.New(envPrefix)
	s.Group("Backup")
	s.Add("addr", settings.Commas(&o.importOptions.to, "host:port,…"), "where some of the cluster's nodes serve clients; one is enough")
	s.Add("to", settings.Text(&o.dir, "DIR"), "directory that gets the backup; it is made", settings.Files())
	s.Add("verify", settings.Text(&o.verify, "DIR"), "check the backup in a directory instead", settings.Files())
	o.access.add(s)
	s.AlsoKnownAs("from", "addr")
	s.AlsoKnownAs("dir", "to")
	// The environment may be that of serve.
	s.Exempt(func(string, string) bool { return true })
	return s
}

func (o *backupOptions) resolve(set *settings.Set, args, rest, environ []string) error {
	faults := parts(set.Load(args, rest, environ))
	fault := func(flag, format string, args ...any) {
		if flag == "to" {
			flag = "addr"
		}
		faults = append(faults, &settings.Fault{Source: set.Where(flag), Text: fmt.Sprintf(format, args...)})
	}
	if o.verify != "" {
		if o.dir != "" {
			fault("verify", "has no meaning beside --to")
		}
		return errors.Join(faults...)
	}
	if o.dir == "" {
		faults = append(faults, &settings.Fault{Source: set.Where("to"), Text: "missing: the directory that gets the backup"})
	}
	o.resolveTarget(fault)
	return errors.Join(faults...)
}

func (a *app) runBackup(ctx context.Context, o *backupOptions) error {
	progress, began := new(backup.Progress), time.Now()
	what := "backup"
	if o.verify != "" {
		what = "verify"
	}
	stop := showLines(a.stderr, bytesLine(what, progress))
	var m *backup.Manifest
	var err error
	if o.verify != "" {
		m, err = backup.Verify(ctx, o.verify, progress)
	} else {
		o.config.Target.Name = "ringside-backup"
		m, err = backup.Take(ctx, backup.TakeConfig{Source: o.config.Target, Dir: o.dir, Progress: progress})
	}
	stop()
	if err != nil {
		return a.failCommand(ctx, "backup", err)
	}
	keys, size := m.Keys()
	fmt.Fprintf(a.stdout, "moment     %s, id %s\n", m.Time.Format("2006-01-02T15:04:05.000Z07:00"), m.Moment.ID)
	fmt.Fprintf(a.stdout, "cluster    %s, strategy %s, of %s with keys\n", m.Moment.Cluster, m.Moment.Strategy, counted(len(m.Files), "node", "nodes"))
	if o.verify == "" {
		fmt.Fprintf(a.stdout, "pause      of writes: %.1f ms\n", m.Moment.PauseMS)
	}
	fmt.Fprintf(a.stdout, "keys       %d, %s, in %v\n", keys, bytesText(size), time.Since(began).Round(time.Millisecond))
	if o.verify != "" {
		fmt.Fprintln(a.stdout, "in order")
	}
	return nil
}

// bytesLine is a line of progress in bytes.
func bytesLine(what string, p *backup.Progress) func(time.Duration) string {
	last := int64(0)
	return func(since time.Duration) string {
		n := p.Bytes.Load()
		defer func() { last = n }()
		return fmt.Sprintf("%s: %s, %s/s", what, bytesText(n), bytesText(int64(float64(n-last)/since.Seconds())))
	}
}

// failCommand reports an error of a command, or that it was stopped.
func (a *app) failCommand(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		fmt.Fprintf(a.stderr, "ringside: %s: stopped\n", name)
		return errStopped
	}
	for _, err := range parts(err) {
		fmt.Fprintf(a.stderr, "ringside: %s: %v\n", name, err)
	}
	return errFailed
}

const restoreLong = `Write a backup into a cluster, which may have any number of nodes, another strategy and another
hash. The cluster must be empty; with --merge, keys that it has stay unless the backup has
them, too. All files are checked before anything is written.

Expiry times are absolute: keys that have expired since the backup do not come back, and are
counted. With --keep-ttl each key has as long to live as it had at the moment of the backup.

With --state, a restore that was ended or killed resumes where it was. Functions come back first,
users, except the user default, last.

Exit code 0 if all is restored, 1 if not, 2 for a wrong command line, 130 after Ctrl-C.`

const restoreExample = `  ringside restore --from /backups/2026-01-31 --addr 10.0.0.7:6379 --state restore.state
  ringside restore --from /backups/2026-01-31 --addr :7000 --keep-ttl --no-users`

// restoreOptions are what flags of restore say.
type restoreOptions struct {
	importOptions
	restore backup.RestoreConfig
}

func (a *app) restoreCommand() *cobra.Command {
	o := new(restoreOptions)
	set := o.settings()
	cmd := &cobra.Command{
		Use:     "restore [flags]",
		Short:   "Restore a backup into a cluster",
		Long:    restoreLong,
		Example: restoreExample,
	}
	cmd.Flags().BoolVar(&o.restore.Merge, "merge", false, "let keys stay that the cluster has already")
	cmd.Flags().BoolVar(&o.restore.KeepTTL, "keep-ttl", false, "let keys live as long as they had to live at the moment of the backup")
	cmd.Flags().BoolVar(&o.restore.NoUsers, "no-users", false, "leave users out")
	withSettings(cmd, set, func(cmd *cobra.Command, rest []string) error {
		return o.resolve(set, a.ownArgs(cmd), rest, a.environ)
	}, func(ctx context.Context) error { return a.runRestore(ctx, o) })
	return cmd
}

func (o *restoreOptions) settings() *settings.Set {
	s := settings.New(envPrefix)
	s.Group("Backup")
	s.Add("from", settings.Text(&o.restore.Dir, "DIR"), "directory of the backup", settings.Files())
	s.Add("state", settings.Text(&o.restore.State, "FILE"),
		"file that remembers how far the restore has come; with it, the next run resumes there", settings.Files())
	s.Group("Target")
	s.Add("addr", settings.Commas(&o.importOptions.to, "host:port,…"), "where some of the cluster's nodes serve clients; one is enough")
	s.Add("retry-for", settings.Duration(&o.config.RetryFor), "how long a write is tried again that the cluster refuses for now")
	o.config.EnsureDefaults()
	o.access.add(s)
	s.AlsoKnownAs("to", "addr")
	s.AlsoKnownAs("dir", "from")
	// The environment may be that of serve.
	s.Exempt(func(string, string) bool { return true })
	return s
}

func (o *restoreOptions) resolve(set *settings.Set, args, rest, environ []string) error {
	faults := parts(set.Load(args, rest, environ))
	fault := func(flag, format string, args ...any) {
		if flag == "to" {
			flag = "addr"
		}
		faults = append(faults, &settings.Fault{Source: set.Where(flag), Text: fmt.Sprintf(format, args...)})
	}
	if o.restore.Dir == "" {
		fault("from", "missing: the directory of the backup")
	}
	o.resolveTarget(fault)
	return errors.Join(faults...)
}

func (a *app) runRestore(ctx context.Context, o *restoreOptions) error {
	o.config.Target.Name = "ringside-restore"
	o.config.Target.Route = client.Forward
	o.restore.Import = o.config
	stats := o.config.Stats
	began := time.Now()
	stop := showProgress(a.stderr, stats.Counts)
	_, err := backup.Restore(ctx, o.restore)
	stop()
	c := stats.Counts()
	printCounts(a.stdout, c, time.Since(began))
	switch {
	case err != nil:
		return a.failCommand(ctx, "restore", err)
	case c.Lost > 0:
		fmt.Fprintf(a.stderr, "ringside: restore: not all was restored: %s listed above\n", counted(c.Lost, "loss is", "losses are"))
		return errFailed
	}
	return nil
}
