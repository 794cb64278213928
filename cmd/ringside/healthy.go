package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/resp/node"
)

const healthyLong = `Ask the node of this machine whether it is healthy, for the HEALTHCHECK of a container
and other probes. The exit code is 0 if it is and 1 if it is not or does not answer.

The settings are those of serve, from the same flags, variables and file: they say where
the node serves HTTP (--http-addr).`

const healthyExample = `  ringside healthy
  ringside healthy --ready
  ringside healthy --http-addr 127.0.0.1:8380`

func (a *app) healthyCommand() *cobra.Command {
	cfg, log, ready, timeout := node.DefaultConfig(), defaultLogOptions(), false, 5*time.Second
	set := serveSettings(&cfg, &log)
	cmd := &cobra.Command{
		Use:               "healthy [flags]",
		Short:             "Ask the node of this machine whether it is healthy",
		Long:              healthyLong,
		Example:           healthyExample,
		Args:              cobra.ArbitraryArgs, // the settings report them with the rest
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	set.AddTo(cmd)
	cmd.Flags().BoolVar(&ready, "ready", false, "ask whether it serves all its keys, not whether it is alive")
	cmd.Flags().DurationVar(&timeout, "timeout", timeout, "time in which it must answer")
	cmd.RunE = func(cmd *cobra.Command, rest []string) error {
		if err := errors.Join(parts(set.Load(a.ownArgs(cmd), rest, a.environ))...); err != nil {
			return err
		}
		cfg.EnsureDefaults()
		path := "/livez"
		if ready {
			path = "/readyz"
		}
		text, err := askHealth(cmd.Context(), cfg.HTTPAddr, path, timeout)
		if err != nil {
			fmt.Fprintf(a.stderr, "ringside: %v\n", err)
			return errFailed
		}
		fmt.Fprintln(a.stdout, text)
		return nil
	}
	return cmd
}

// maxHealthText is how much of an answer is read.
const maxHealthText = 4 << 10

// askHealth returns what a node answers on an HTTP path, an error unless it is 200. addr is that on
// which the node listens.
func askHealth(ctx context.Context, addr, path string, timeout time.Duration) (string, error) {
	if addr == node.HTTPOff || addr == "" {
		return "", errors.New("the node serves no HTTP: set --http-addr")
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
	if err != nil {
		return "", err
	}
	// A wildcard address is dialed as this machine.
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", addr)
	}
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	reply, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return "", fmt.Errorf("the node at %s does not answer: %w", addr, err)
	}
	defer func() { _ = reply.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(reply.Body, maxHealthText))
	text := strings.TrimSpace(string(body))
	if err != nil || reply.StatusCode != http.StatusOK {
		return "", errors.Join(fmt.Errorf("%s of the node at %s answers %s: %s", path, addr, reply.Status, text), err)
	}
	return text, nil
}
