package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/resp/node"
)

const recoverLong = `Have a cluster go on that has lost the majority of its voters for good.

Without the majority a cluster answers nothing: reads and writes are refused with
CLUSTERDOWN until enough nodes are back. If they never will be, stop the nodes that are
left and run this once, with the directories of all of them; then start them again.

  Each range goes on at a node that has all that was acknowledged of it. If no such
  copy is left, it goes on at one that may have lost the last writes, and is reported.
  Ranges that none of these nodes has are refused until RING RECREATE.
  The cluster gets a new generation. Nodes of the old one, should they come back, are
  refused: start them with empty directories.

If it is cut short, run it again: it finishes what it has begun, and until then the
nodes do not start. The old tables stay beside the new ones, as raft.<generation>.

Never run it while a majority may still be there, cut off from here: what its clients
write from then on would not be in this cluster.`

const recoverExample = `  ringside recover --dir /var/lib/ringside --dry-run
  ringside recover --dir d1 --dir d3`

func (a *app) recoverCommand() *cobra.Command {
	var dirs []string
	dry := false
	cmd := &cobra.Command{
		Use:               "recover --dir DIR [--dir DIR ...]",
		Short:             "Go on without a majority that is lost for good",
		Long:              recoverLong,
		Example:           recoverExample,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().StringArrayVar(&dirs, "dir", nil, "directory of a node that is left, which does not run; give each of them")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be done, and change nothing")
	_ = cmd.MarkFlagDirname("dir")
	cmd.RunE = func(*cobra.Command, []string) error {
		if len(dirs) == 0 {
			return errors.New("--dir is missing: the directories of the nodes that are left")
		}
		r, err := node.Recover(dirs, dry)
		if err != nil {
			for _, err := range parts(err) {
				fmt.Fprintf(a.stderr, "ringside: %v\n", err)
			}
			return errFailed
		}
		printRecovery(a.stdout, r, dry)
		return nil
	}
	return cmd
}

func printRecovery(w io.Writer, r *node.Recovery, dry bool) {
	if r.Nothing {
		fmt.Fprintf(w, "Cluster %s is recovered already, as generation %d: start %s.\n", r.Cluster, r.To, strings.Join(r.Nodes, ", "))
		return
	}
	fmt.Fprintf(w, "cluster     %s\n", r.Cluster)
	if dry && !r.Resumed {
		fmt.Fprintf(w, "generation  %d, and then a new one\n", r.From)
	} else {
		fmt.Fprintf(w, "generation  %d, and now %d\n", r.From, r.To)
	}
	fmt.Fprintf(w, "nodes       %s; %s votes first\n", strings.Join(r.Nodes, ", "), r.Voter)
	if t := r.Recovered; t != nil {
		if len(t.Gone) > 0 {
			fmt.Fprintf(w, "left out    %s\n", strings.Join(t.Gone, ", "))
		}
		fmt.Fprintf(w, "ranges      %d go on where they were, %d at a node that had a copy\n", t.Ranges, t.Promoted)
		if t.Doubtful > 0 {
			fmt.Fprintf(w, "incomplete  %d ranges go on at %s, which may have lost the last acknowledged writes: no complete copy is left\n",
				t.Doubtful, strings.Join(t.Incomplete, ", "))
		}
		if t.Lost > 0 {
			fmt.Fprintf(w, "lost        %d ranges, which only %s had: refused until RING RECREATE ALL\n", t.Lost, strings.Join(t.Missed, ", "))
		}
	}
	switch {
	case dry && r.Resumed:
		fmt.Fprintln(w, "An earlier recovery was cut short and would be finished. Nothing was changed.")
	case dry:
		fmt.Fprintln(w, "Nothing was changed.")
	case r.Resumed:
		fmt.Fprintf(w, "An earlier recovery is finished. Start %s.\n", strings.Join(r.Nodes, ", "))
	default:
		fmt.Fprintf(w, "Done. Start %s.\n", strings.Join(r.Nodes, ", "))
	}
}
