package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/cmd/ringside/kubernetes"
	"github.com/ringside-kv/ringside/resp/node"
	"github.com/ringside-kv/ringside/resp/status"
)

const leaveLong = `Have the node of this machine hand all its data to the other nodes, leave the cluster
and stop (RING LEAVE), and wait until it has. The exit code is 0 then, and 1 if it has not,
or if neither the node nor another one tells that it has: keep its directory then.
It is 1, too, if something starts the node again meanwhile.

The settings are those of serve, from the same flags, variables and file: they say where
the node serves clients (--unix-socket, else --addr without TLS) and its password.

With --if-scaled-down, for the preStop hook of a pod, the node leaves only if the
StatefulSet of that name was scaled down below the number of this pod. A restart of
the pod keeps its data and its place.`

func (a *app) leaveCommand() *cobra.Command {
	cfg, log, set := node.DefaultConfig(), defaultLogOptions(), ""
	all := serveSettings(&cfg, &log)
	cmd := &cobra.Command{
		Use:   "leave [flags]",
		Short: "Have the node of this machine hand over its data and leave",
		Long:  leaveLong,
		Example: `  ringside leave --unix-socket /run/ringside/ringside.sock
  ringside leave --if-scaled-down ringside`,
		Args:              cobra.ArbitraryArgs, // the settings report them with the rest
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	all.AddTo(cmd)
	cmd.Flags().StringVar(&set, "if-scaled-down", "", "leave only if the StatefulSet of this name has no place for this pod any more")
	cmd.RunE = func(cmd *cobra.Command, rest []string) error {
		if err := errors.Join(parts(all.Load(a.ownArgs(cmd), rest, a.environ))...); err != nil {
			return err
		}
		cfg.EnsureDefaults()
		ctx, cancel := context.WithTimeoutCause(cmd.Context(), cfg.LeaveTimeout+cfg.StopTimeout, errors.New("--leave-timeout is over"))
		defer cancel()
		err := a.leaveIf(ctx, &cfg, set)
		if err != nil {
			fmt.Fprintf(a.stderr, "ringside: %v\n", err)
			return errFailed
		}
		return nil
	}
	return cmd
}

// leaveIf has the node leave, unless the StatefulSet, if one is named, still has a place for it.
func (a *app) leaveIf(ctx context.Context, cfg *node.Config, set string) error {
	if set != "" {
		pod, err := kubernetes.ThisPod(os.Getenv)
		if err != nil {
			return err
		}
		asking, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		removed, err := pod.Removed(asking, set)
		if err != nil {
			return err
		}
		if !removed {
			fmt.Fprintf(a.stdout, "%s keeps its place in StatefulSet %s\n", pod.Name, set)
			return nil
		}
	}
	own := status.Source{Addr: cfg.Addr, Password: cfg.RequirePass}
	if cfg.UnixSocket != "" {
		own.Addr = cfg.UnixSocket
		if !status.IsPath(own.Addr) {
			own.Addr = "./" + own.Addr
		}
	}
	l := &leaver{own: own, poll: leavePoll, patience: leavePatience}
	if err := l.leave(ctx); err != nil {
		return fmt.Errorf("leaving the cluster failed: %w", err)
	}
	fmt.Fprintln(a.stdout, "the node has handed over all data and left the cluster")
	return nil
}
