package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/cmd/ringside/processors"
	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/cmd/ringside/systemd"
	"github.com/ringside-kv/ringside/resp"
	"github.com/ringside-kv/ringside/resp/node"
)

const serveLong = `Serve the Redis protocol until SIGTERM, SIGINT, or a client's SHUTDOWN or RING LEAVE.

Every setting is a flag, a variable (RINGSIDE_MAX_CLIENTS for --max-clients) and a
key of a YAML file (max-clients: 500, in the file that --config or RINGSIDE_CONFIG
names). A flag wins over a variable, a variable over the file. All that is wrong
with any of them is reported at once, with exit code 2.

Sizes are 64mb, 64MiB or bytes (kb, mb, gb are powers of 1024, k, m, g of 1000, as
in redis.conf). Times are 500ms, 10s, 1h30m or seconds.`

const serveExample = `  ringside serve
  ringside serve --addr 127.0.0.1:7000 --dir /var/lib/ringside --fsync always
  RINGSIDE_REQUIREPASS=secret ringside serve --addr :6379
  ringside serve --addr 127.0.0.1:7002 --dir d2 --join 127.0.0.1:8000
  ringside serve --addr 127.0.0.1:7009 --dir p --join 127.0.0.1:8000 --role proxy
  ringside serve --config ringside.yaml --print-config`

func (a *app) serveCommand() *cobra.Command {
	cfg, log, printConfig := node.DefaultConfig(), defaultLogOptions(), false
	set := serveSettings(&cfg, &log)
	cmd := &cobra.Command{
		Use:               "serve [flags]",
		Short:             "Serve the Redis protocol",
		Long:              serveLong,
		Example:           serveExample,
		Args:              cobra.ArbitraryArgs, // configure reports them with the rest
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	set.AddTo(cmd)
	cmd.Flags().BoolVar(&printConfig, "print-config", false,
		"print the configuration in effect as YAML, secrets masked, and exit")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return errors.Join(append([]error{err}, parts(a.configure(cmd, set, &cfg, nil))...)...)
	})
	cmd.RunE = func(cmd *cobra.Command, rest []string) error {
		// First of all: SIGHUP ends a process that does not wait for it.
		signals := make(chan os.Signal, 2)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		defer signal.Stop(signals)
		sockets, err := systemd.Sockets()
		if err != nil {
			return err
		}
		cfg.Listeners = sockets
		if err := a.configure(cmd, set, &cfg, rest); err != nil {
			return err
		}
		if printConfig {
			return set.Print(cmd.OutOrStdout())
		}
		cfg.Version = versionName()
		var level slog.LevelVar
		cfg.Logger = log.logger(a.stderr, &level)
		logBuild(cfg.Logger)
		a.tuneGC(cfg.Role)
		a.limitMemory(&cfg, cfg.Logger)
		defer a.tuneThreads(cmd.Context(), &cfg)()
		if set.Path() != "" {
			cfg.ConfigFile, cfg.Rewrite = set.Path(), rewriter(set, cfg.Logger)
		}
		r := &reloader{app: a, cmd: cmd, started: set, last: set, level: &level, log: cfg.Logger, sockets: sockets}
		err = serve(cfg, openNode, signals, r.reload, os.Exit)
		if fault := new(node.Fault); errors.As(err, &fault) {
			return &settings.Fault{Source: set.Where(fault.Setting), Text: fault.Text}
		}
		return err
	}
	return cmd
}

// tuneThreads has a proxy run on half of the processors: it stands beside an application that
// wants them, and a forwarded request costs a tenth less if fewer threads are woken for it.
// A store runs on as many as it can have, until end is called. GOMAXPROCS in the environment is
// for good.
func (a *app) tuneThreads(ctx context.Context, cfg *node.Config) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	switch {
	case a.inEnviron("GOMAXPROCS"):
	case cfg.Role == node.RoleProxy:
		runtime.GOMAXPROCS(node.ProxyThreads())
	case cfg.Role == node.RoleStore:
		running.Go(func() { processors.Run(ctx, cfg.Logger) })
	}
	return func() { cancel(); running.Wait() }
}

func (a *app) inEnviron(name string) bool {
	return slices.ContainsFunc(a.environ, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
}

// tuneGC lets garbage grow to four times what is alive before it is collected,
// unless GOGC says otherwise. The big memory, caches and memtables, lies outside
// Go's heap; what is left is small, and at the usual 100 percent a busy server
// would collect it many times a second. A witness has little to do, and is to be small. A build without cgo has
// memtables and cached blocks on the heap, which would grow by four times these, too.
func (a *app) tuneGC(role string) {
	switch {
	case a.inEnviron("GOGC"):
	case role == node.RoleStore && !resp.PebbleIsOffHeap():
	case role == node.RoleWitness:
		debug.SetGCPercent(50)
	default:
		debug.SetGCPercent(400)
	}
}

// server is what serve needs of a node.
type server interface {
	ID() string
	Addr() net.Addr
	HTTPAddr() net.Addr
	Strategy() string // in force in the cluster; empty before it is known
	Done() <-chan struct{}
	Err() error
	Leave(ctx context.Context) error
	Reload(cfg node.Config) error
	Close() error
}

func openNode(cfg node.Config) (server, error) {
	n, err := node.Open(cfg)
	if err != nil {
		return nil, err // a nil *Node would be a server that is not nil
	}
	return &supervised{n, &cfg, systemd.Start(n, cfg.Logger)}, nil
}

// A supervised node tells systemd what becomes of it.
type supervised struct {
	*node.Node
	cfg    *node.Config
	notify *systemd.Notifier
}

func (s *supervised) Leave(ctx context.Context) error {
	s.notify.Stopping(s.cfg.LeaveTimeout + s.cfg.StopTimeout + closeMargin)
	return s.Node.Leave(ctx)
}

func (s *supervised) Close() error {
	s.notify.Stopping(s.cfg.StopTimeout + closeMargin)
	defer s.notify.Close() // the watchdog is fed until the end
	return s.Node.Close()
}

// closeMargin is what Close may take beyond StopTimeout, which it spends on
// running commands, until the process ends without it.
const closeMargin = 5 * time.Second

// serve runs a server until a signal or until it wants to end. The second signal
// calls exit at once. SIGHUP calls reload while the server runs, and does nothing else.
// The error is a *node.Fault if a setting does not fit the directory; the log says what
// else is wrong.
func serve(cfg node.Config, open func(node.Config) (server, error), signals <-chan os.Signal, reload func(server), exit func(int)) error {
	log := cfg.Logger
	stop, hangup, finished := make(chan os.Signal, 1), make(chan struct{}, 1), make(chan struct{})
	defer close(finished)
	go func() {
		for stopping := false; ; {
			select {
			case sig := <-signals:
				switch {
				case sig == syscall.SIGHUP:
					select {
					case hangup <- struct{}{}:
					default: // the one that waits reads all that is there by then
					}
				case !stopping:
					log.Info("stopping", "signal", sig.String())
					stopping = true
					stop <- sig
				default:
					log.Warn("stopped immediately", "signal", sig.String())
					exit(exitFailure)
				}
			case <-finished:
				return
			}
		}
	}()

	n, err := open(cfg)
	if fault := new(node.Fault); errors.As(err, &fault) {
		return fault
	}
	if err != nil {
		log.Error("start failed", "err", err)
		return errFailed
	}
	logStart(log, cfg, n)

	var fatal, stayed error
	for running := true; running; {
		select {
		case <-hangup:
			reload(n)
		case sig := <-stop:
			running = false
			if cfg.LeaveOnTerm && sig == syscall.SIGTERM {
				stayed = leave(log, cfg, n)
			}
		case <-n.Done():
			running = false
			if fatal = n.Err(); fatal != nil {
				log.Error("stopping after a fatal error", "err", fatal)
			} else {
				log.Info("stopping", "by", "a client's command")
			}
		}
	}
	if err := closeWithin(n, cfg.StopTimeout+closeMargin); err != nil {
		log.Error("stop failed", "err", err)
		return errFailed
	}
	if fatal != nil || stayed != nil {
		return errFailed
	}
	log.Info("stopped")
	return nil
}

// leave hands everything over, unless that takes too long or the node ends meanwhile.
func leave(log *slog.Logger, cfg node.Config, n server) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), cfg.LeaveTimeout,
		fmt.Errorf("--leave-timeout %v is over", cfg.LeaveTimeout))
	defer cancel()
	left := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-n.Done():
			cancel()
		case <-left:
		}
	}()
	err := n.Leave(ctx)
	close(left)
	<-ended
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		log.Error("handing over all data failed", "err", err)
		return err
	}
	log.Info("handed over all data and left the cluster")
	return nil
}

func logStart(log *slog.Logger, cfg node.Config, n server) {
	http := node.HTTPOff
	if addr := n.HTTPAddr(); addr != nil {
		http = addr.String()
	}
	attrs := []any{"addr", n.Addr().String(), "http", http, "id", n.ID(), "role", cfg.Role,
		"dir", cfg.Dir, "strategy", cmp.Or(n.Strategy(), "not known yet"), "fsync", cfg.Fsync, "connect", connectWith(cfg, n.Addr())}
	if cfg.UnixSocket != "" {
		attrs = append(attrs, "unix-socket", cfg.UnixSocket)
	}
	log.Info("listening", attrs...)
	switch cfg.Exposure() {
	case node.ExposureRefused:
		log.Warn("clients of other hosts are refused: set --requirepass or --tls-cert, or --protected-mode no",
			"addr", n.Addr().String())
	case node.ExposureOpen:
		log.Warn("every client that reaches this address can read and write: set --requirepass or --tls-cert",
			"addr", n.Addr().String())
	}
}

// connectWith returns the command that connects to the node from this machine.
func connectWith(cfg node.Config, addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return "redis-cli"
	}
	command := "redis-cli"
	if addr.Network() == "unix" {
		return "redis-cli -s " + host + withPassword(cfg)
	}
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() && !ip.Equal(net.IPv4(127, 0, 0, 1)) {
		command += " -h " + host
	}
	command += " -p " + port
	if cfg.TLSCert != "" {
		command += " --tls"
	}
	return command + withPassword(cfg)
}

func withPassword(cfg node.Config) string {
	if cfg.RequirePass != "" {
		return " --askpass"
	}
	return ""
}

var errCloseTimeout = errors.New("not closed in time; what was acknowledged is recovered at the next start as after a crash")

func closeWithin(n server, limit time.Duration) error {
	closed := make(chan error, 1)
	go func() { closed <- n.Close() }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-closed:
		return err
	case <-timer.C:
		return errCloseTimeout
	}
}
