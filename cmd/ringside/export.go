package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/internal/durable"
	"github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

const exportLong = `Write all keys of a cluster to a standard RDB file, which redis-server, valkey-server,
redis-check-rdb and ringside import read: all types, expiry times and databases.

The file has all keys as they were at one moment, while clients keep writing: all primaries hold
writes for some milliseconds and pin what they have, as with ringside backup. With --scan the
keys are read one by one, and each is of another moment: that works where nodes cannot agree, as
with a range that is lost, and for users who may not send RING BACKUP. The file appears under its
name when it is complete.

Exit code 0 if all keys are in it, 1 if not or if it failed, 2 for a wrong command line,
130 after Ctrl-C.`

const exportExample = `  ringside export --from 10.0.0.7:6379 --rdb dump.rdb
  ringside export --from :6379 --rdb - --db 0=0 --match 'user:*' | gzip > users.rdb.gz`

// exportOptions are what flags of export say.
type exportOptions struct {
	importOptions
	to     string
	export importer.ExportConfig
}

func (a *app) exportCommand() *cobra.Command {
	o := &exportOptions{export: importer.ExportConfig{Version: 10, RetryFor: 5 * time.Minute}}
	set := o.settings()
	cmd := &cobra.Command{
		Use:     "export [flags]",
		Short:   "Write all keys to an RDB file",
		Long:    exportLong,
		Example: exportExample,
	}
	cmd.Flags().BoolVar(&o.export.Scan, "scan", false, "read keys one by one: the file is not of one moment")
	withSettings(cmd, set, func(cmd *cobra.Command, rest []string) error {
		return o.resolve(set, a.ownArgs(cmd), rest, a.environ)
	}, func(ctx context.Context) error { return a.runExport(ctx, o) })
	return cmd
}

func (o *exportOptions) settings() *settings.Set {
	s := settings.New(envPrefix)
	s.Group("Source")
	s.Add("from", settings.Commas(&o.importOptions.to, "host:port,…"), "where some of the cluster's nodes serve clients; one is enough")
	s.Add("db", settings.List(&o.databases, "n=m"),
		"write database n of the cluster as database m; once for each. Databases that are not named are left out (default: all, with the same numbers)")
	s.Add("match", settings.Text(&o.export.Filter.Match, "pattern"), "write only keys that match, as with SCAN MATCH")
	s.Add("retry-for", settings.Duration(&o.export.RetryFor), "how long a read of --scan is tried again that the cluster refuses for now")
	o.access.add(s)
	s.Group("File")
	s.Add("rdb", settings.Text(&o.to, "FILE"), "RDB file to write; - is standard output", settings.Files())
	s.Add("rdb-version", settings.Count(&o.export.Version), "its version: 9 is Redis 5 to 6.2, which have no room for streams of today, 10 is 7.0, 11 is 7.2, 12 is 7.4, 14 is 8.8")
	s.AlsoKnownAs("addr", "from")
	s.AlsoKnownAs("file", "rdb")
	// The environment may be that of serve.
	s.Exempt(func(string, string) bool { return true })
	return s
}

func (o *exportOptions) resolve(set *settings.Set, args, rest, environ []string) error {
	faults := parts(set.Load(args, rest, environ))
	fault := func(flag, format string, args ...any) {
		faults = append(faults, &settings.Fault{Source: set.Where(flag), Text: fmt.Sprintf(format, args...)})
	}
	if o.to == "" {
		fault("rdb", "missing: the file to write, or - for standard output")
	}
	if v := o.export.Version; v < rdbfile.MinWriteVersion || v > rdbfile.MaxWriteVersion {
		fault("rdb-version", "%d is not between %d and %d", v, rdbfile.MinWriteVersion, rdbfile.MaxWriteVersion)
	}
	checkRetryFor(o.export.RetryFor, fault)
	o.resolveTarget(func(flag, format string, args ...any) {
		if flag == "to" {
			flag = "from"
		}
		fault(flag, format, args...)
	})
	o.resolveDatabases(fault)
	o.export.Source = o.config.Target
	o.export.Filter.Databases = o.config.Filter.Databases
	return errors.Join(faults...)
}

func (a *app) runExport(ctx context.Context, o *exportOptions) error {
	stats := new(importer.Stats)
	o.export.Stats = stats
	began := time.Now()
	stop := showProgress(a.stderr, stats.Counts)
	m, err := o.write(ctx, a.stdout)
	stop()
	report := a.stdout
	if o.to == "-" {
		report = a.stderr
	}
	c := stats.Counts()
	printCounts(report, c, time.Since(began))
	switch {
	case err != nil && ctx.Err() != nil:
		fmt.Fprintln(a.stderr, "ringside: export: stopped")
		return errStopped
	case err != nil:
		fmt.Fprintf(a.stderr, "ringside: export: %v\n", err)
		return errFailed
	}
	if m == nil {
		fmt.Fprintln(report, "note       the file is not of one moment: keys that changed meanwhile are as before or after")
	} else {
		fmt.Fprintf(report, "moment     %s\n", time.UnixMilli(m.AtMS).UTC().Format(momentLayout))
		fmt.Fprintf(report, "pause      of writes: %.1f ms\n", m.PauseMS)
	}
	if c.Lost > 0 {
		fmt.Fprintf(a.stderr, "ringside: export: not all was written: %s listed above\n", counted(c.Lost, "loss is", "losses are"))
		return errFailed
	}
	return nil
}

// write writes the file under another name first, so that under its name there is never a part of one.
func (o *exportOptions) write(ctx context.Context, stdout io.Writer) (*importer.Moment, error) {
	if o.to == "-" {
		return importer.Export(ctx, stdout, o.export)
	}
	next := o.to + ".new"
	file, err := os.Create(next)
	if err != nil {
		return nil, err
	}
	m, err := importer.Export(ctx, file, o.export)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(next, o.to)
	}
	if err != nil {
		_ = os.Remove(next)
		return nil, err
	}
	return m, durable.SyncDir(filepath.Dir(o.to))
}
