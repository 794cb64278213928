package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/ring"
)

const locateLong = `Print the node of each key, as key, tab, node. Keys are arguments, or the lines of
standard input.

A line ends with a line feed and may hold any other bytes; an empty line is the empty
key. The result is the node that serves the key in a cluster with the same strategy,
settings and nodes. With ketama and vnode that follows from the nodes alone. With buckets
it also depends on the history of the cluster: without --placement the result is for a
cluster that was founded with these nodes.

With --verbose a first line names the columns: key, node, token (eight hexadecimal
digits), the range that it lies in, and the backups in their order. A line on standard
error names the system, such as libketama, whose clients find the keys at the same nodes.`

const locateExample = `  ringside locate --strategy ketama --node a --node b:2 user:1 user:2
  ringside locate --node a --node b --node c --hash slot --verbose < keys.txt
  ringside locate --strategy ketama --ketama-rule twemproxy --node 10.0.1.1:11211:1 key
  ringside locate --strategy vnode --vnodes 16 --node a --node b --pin b+=-1383330446 key
  ringside locate --strategy vnode --node a --node b --pin a=0,0x80000000 --print-placement
  ringside locate --node a --node b --print-placement > placement.txt
  ringside locate --placement placement.txt key`

func (a *app) locateCommand() *cobra.Command {
	o := defaultLocateOptions()
	set := locateSettings(&o)
	cmd := &cobra.Command{
		Use:     "locate [flags] [key …]",
		Short:   "Print the node that a key lies at",
		Long:    locateLong,
		Example: locateExample,
	}
	cmd.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "also print token, range and backups, below a line that names the columns")
	cmd.Flags().BoolVar(&o.printPlacement, "print-placement", false, "print the placement in text form, as --placement reads it, and exit")
	readSettings(cmd, set, func(cmd *cobra.Command, keys []string) error {
		_, faults := o.resolve(set, a.ownArgs(cmd), keys)
		return faults
	})
	cmd.RunE = func(cmd *cobra.Command, keys []string) error {
		placed, err := o.resolve(set, a.ownArgs(cmd), keys)
		if err != nil {
			return err
		}
		for _, note := range placed.notes {
			fmt.Fprintf(a.stderr, "ringside: %s\n", note)
		}
		// A reader that goes away, as head does, is no failure; without this it ends the
		// process by signal.
		signal.Ignore(syscall.SIGPIPE)
		defer signal.Reset(syscall.SIGPIPE)
		err = o.print(cmd.OutOrStdout(), cmd.InOrStdin(), placed, keys)
		if err == nil || errors.Is(err, syscall.EPIPE) {
			return nil
		}
		fmt.Fprintf(a.stderr, "ringside: %v\n", err)
		return errFailed
	}
	return cmd
}

// print writes what was asked for.
func (o *locateOptions) print(out io.Writer, in io.Reader, placed *placed, keys []string) error {
	if o.printPlacement {
		text, err := placed.placement.MarshalText()
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	}
	w := &locationWriter{Writer: bufio.NewWriterSize(out, 1<<16), placed: placed, verbose: o.verbose}
	if o.verbose {
		w.WriteString("key\tnode\ttoken\trange\tbackups\n")
	}
	if len(keys) > 0 {
		for _, key := range keys {
			w.location([]byte(key))
		}
		return w.Flush()
	}
	err := eachLine(in, w.location, w.Flush)
	if flushed := w.Flush(); err == nil {
		err = flushed
	}
	return err
}

// locationWriter writes a line a key. After a failed write the others do nothing, and
// Flush returns the error.
type locationWriter struct {
	*bufio.Writer
	placed  *placed
	verbose bool
}

func (w *locationWriter) location(key []byte) {
	token := w.placed.token(key)
	row := w.placed.placement.Lookup(token)
	w.Write(key)
	w.WriteByte('\t')
	w.WriteString(row.Primary)
	if w.verbose {
		fmt.Fprintf(w, "\t%08x\t%v\t%s", uint32(token), row.Range, strings.Join(row.Backups, ","))
	}
	w.WriteByte('\n')
}

// placed is what keys are located with.
type placed struct {
	token     ring.TokenFunc
	placement *ring.Placement
	notes     []string // for standard error
}
