package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/resp/backup"
	"github.com/ringside-kv/ringside/resp/client"
)

const backupLong = `Take a backup of the whole cluster as it is at one moment, while clients keep working: all
primaries hold writes for some milliseconds, pin what they have, and then send it. The
place gets an RDB file for each node, and manifest.json, which is written last: a
place without it has no backup.

` + backupPlaces + `
With --verify, nothing is taken: all files of a backup are read, and everything that is wrong
with them is reported.

Backups of different times go into different places. See ringside restore.

Exit code 0 if the backup is complete, or is in order, 1 if not, 2 for a wrong command
line, 130 after Ctrl-C.`

const backupPlaces = `A place is a directory, - for a stream (the standard input or output, a tar archive), or
s3://bucket/prefix in Amazon S3 or a compatible service, with AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL_S3 or
AWS_ENDPOINT_URL (https://host:port of a service that is not Amazon's).
`

// momentLayout is how times of moments are printed.
const momentLayout = "2006-01-02T15:04:05.000Z07:00"

const backupExample = `  ringside backup --addr 10.0.0.7:6379 --to /backups/$(date +%F)
  ringside backup --addr 10.0.0.7:6379 --to s3://backups/ringside/$(date +%F)
  ringside backup --addr :6379 --to - | zstd | ssh host 'cat > backup.tar.zst'
  ringside backup --verify /backups/2026-01-31`

// backupOptions are what flags of backup say.
type backupOptions struct {
	importOptions
	place  string
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
	s.Add("to", settings.Text(&o.place, "PLACE"), "directory that gets the backup, which is made; or - or s3://bucket/prefix", settings.Files())
	s.Add("verify", settings.Text(&o.verify, "PLACE"), "check the backup in a place instead", settings.Files())
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
		if o.place != "" {
			fault("verify", "has no meaning beside --to")
		}
		checkPlace(&faults, set, "verify", o.verify)
		return errors.Join(faults...)
	}
	if o.place == "" {
		faults = append(faults, &settings.Fault{Source: set.Where("to"), Text: "missing: the place that gets the backup"})
	} else {
		checkPlace(&faults, set, "to", o.place)
	}
	o.resolveTarget(fault)
	return errors.Join(faults...)
}

// checkPlace adds a fault if the value of a flag cannot be the place of a backup.
func checkPlace(faults *[]error, set *settings.Set, flag, place string) {
	if err := backup.CheckPlace(place); err != nil {
		*faults = append(*faults, &settings.Fault{Source: set.Where(flag), Text: err.Error()})
	}
}

// access is how a backup reaches its place.
func (a *app) access() backup.Access {
	return backup.Access{In: a.stdin, Out: a.stdout, Env: func(name string) string {
		for _, variable := range slices.Backward(a.environ) {
			if value, ok := strings.CutPrefix(variable, name+"="); ok {
				return value
			}
		}
		return ""
	}}
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
		m, err = backup.Verify(ctx, o.verify, a.access(), progress)
	} else {
		o.config.Target.Name = "ringside-backup"
		m, err = backup.Take(ctx, backup.TakeConfig{Source: o.config.Target, To: o.place, Access: a.access(), Progress: progress})
	}
	stop()
	if err != nil {
		return a.failCommand(ctx, "backup", err)
	}
	report := a.stdout
	if o.place == "-" {
		report = a.stderr
	}
	keys, size := m.Keys()
	fmt.Fprintf(report, "moment     %s, id %s\n", m.Time.Format(momentLayout), m.Moment.ID)
	fmt.Fprintf(report, "cluster    %s, strategy %s, of %s with keys\n", m.Moment.Cluster, m.Moment.Strategy, counted(len(m.Files), "node", "nodes"))
	if o.verify == "" {
		fmt.Fprintf(report, "pause      of writes: %.1f ms\n", m.Moment.PauseMS)
	}
	fmt.Fprintf(report, "keys       %d, %s, in %v\n", keys, bytesText(size), time.Since(began).Round(time.Millisecond))
	if o.verify != "" {
		fmt.Fprintln(report, "in order")
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
them, too. All files are checked before anything is written: a stream is copied into a
temporary directory first, where TMPDIR says, and a bucket is read twice.

` + backupPlaces + `
Expiry times are absolute: keys that have expired since the backup do not come back, and are
counted. With --keep-ttl each key has as long to live as it had at the moment of the backup.

With --state, a restore that was ended or killed resumes where it was. The file is deleted at
the end, and refused with another backup or cluster. Functions come back first, users, except
the user default, last.

Exit code 0 if all is restored, 1 if not, 2 for a wrong command line, 130 after Ctrl-C.`

const restoreExample = `  ringside restore --from /backups/2026-01-31 --addr 10.0.0.7:6379 --state restore.state
  ringside restore --from /backups/2026-01-31 --addr :7000 --keep-ttl --no-users
  ringside restore --from s3://backups/ringside/2026-01-31 --addr :7000`

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
	s.Add("from", settings.Text(&o.restore.From, "PLACE"), "place of the backup: a directory, - or s3://bucket/prefix", settings.Files())
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
	if o.restore.From == "" {
		fault("from", "missing: the place of the backup")
	} else {
		checkPlace(&faults, set, "from", o.restore.From)
	}
	checkRetryFor(o.config.RetryFor, fault)
	o.resolveTarget(fault)
	return errors.Join(faults...)
}

func (a *app) runRestore(ctx context.Context, o *restoreOptions) error {
	o.config.Target.Name = "ringside-restore"
	o.config.Target.Route = client.Forward
	o.restore.Import, o.restore.Access = o.config, a.access()
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
