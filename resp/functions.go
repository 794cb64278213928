package resp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/functions"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Libraries of functions, over the cluster: FUNCTION changes what the nodes agree on, and answers once each of
// them has loaded that.

// newFunctions returns the libraries of a server.
func newFunctions(s *Server) *functions.Registry {
	return functions.NewRegistry(s.settings.ScriptMemory.Load, logger(s), func(library string, err error) {
		s.log.Error("loading a library of functions failed", "library", library, "err", err)
	})
}

// logger returns what logs messages of libraries.
func logger(s *Server) func(level int, message string) {
	return func(level int, message string) { scripts.Log(s.log, level, message) }
}

// Functions implements functions.Host.
func (x *call) Functions() *functions.Server {
	return &functions.Server{
		Registry: x.srv.scripts.functions,
		Agree:    func(_ *command.Call, changes []agreed.Change) error { return agreeFunctions(x, changes) },
		Full:     func(bytes int) bool { return x.srv.quota.Refuses(-1, int64(bytes)) },
		Kill:     func(*command.Call) { killScripts(x, "KILL-FUNCTIONS", true) },
		Running:  func(*command.Call) [][]byte { return runningFunctions(x) },
	}
}

// agreeFunctions has the nodes agree on changes of libraries and waits until all of them have the libraries. A
// server without a cluster keeps them in memory.
func agreeFunctions(x *call, changes []agreed.Change) error {
	operator, all := x.srv.cfg.Operator, x.srv.scripts.functions
	if operator == nil {
		return all.Alone(changes)
	}
	return x.within(func(ctx context.Context) error {
		values, err := operator.Agree(ctx, changes)
		if errors.Is(err, agreed.ErrChanged) {
			soon, cancel := context.WithTimeout(ctx, scriptTimeout)
			defer cancel()
			_ = loadFunctions(soon, x.srv, changes[0].Was+1)
		}
		if err != nil {
			return err
		}
		version := values.Of(changes[0].Name).Version
		if err = loadFunctions(ctx, x.srv, version); err == nil {
			err = loadFunctionsElsewhere(ctx, x, version)
		}
		if err != nil {
			return fmt.Errorf("%w: the libraries are changed, but %w", agreed.ErrUnknown, err)
		}
		return nil
	})
}

// loadFunctions waits until this server knows libraries of a version, or newer ones, and loads them.
func loadFunctions(ctx context.Context, s *Server, version uint64) error {
	for {
		routes := s.routes.Load()
		if s.scripts.functions.Version() >= version {
			s.scripts.functions.Current()
			return nil
		}
		if routes == nil {
			return errors.New("this node is not part of a cluster")
		}
		select {
		case <-routes.next:
		case <-ctx.Done():
			return fmt.Errorf("this node does not know it yet: %w", context.Cause(ctx))
		}
	}
}

// cmdRingFunctions is RING SCRIPT FUNCTIONS version, which nodes send each other.
func cmdRingFunctions(x *call) {
	version, ok := wire.ParseInt(x.Args[3])
	if !ok {
		x.Error(command.MsgNotInteger)
		return
	}
	err := x.within(func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, scriptTimeout/2) // requests of other clients wait behind this one
		defer cancel()
		return loadFunctions(ctx, x.srv, uint64(version))
	})
	if err != nil {
		x.Error("TRYAGAIN this node does not know the libraries yet")
		return
	}
	x.OK()
}

// loadFunctionsElsewhere waits until all other nodes have loaded the libraries of a version, those that are gone
// excepted.
func loadFunctionsElsewhere(ctx context.Context, x *call, version uint64) error {
	question := wire.SubRequest("RING", "SCRIPT", []byte("FUNCTIONS"), fmt.Append(nil, version))
	loaded := map[string]bool{}
	for {
		routes := x.srv.routes.Load()
		asked := slices.DeleteFunc(slices.Clone(routes.peers), func(p *Route) bool { return loaded[p.ID] })
		missing, _ := tellPeers(asked, question, min(scriptTimeout, x.srv.forwardTimeout()))
		if len(missing) == 0 {
			return nil
		}
		for _, peer := range asked {
			loaded[peer.ID] = !slices.Contains(missing, peer)
		}
		select {
		case <-routes.next:
		case <-time.After(routesPause):
		case <-ctx.Done():
			return fmt.Errorf("node %s does not answer and may not know it yet", missing[0].ID)
		}
	}
}

// runningFunction returns the function that has run for longest on this node, encoded; nil if none runs.
func runningFunction(s *Server) []byte {
	name, words, since := s.scripts.Function()
	if name == "" {
		return nil
	}
	return functions.EncodeRunning(name, s.table.ByName["fcall"].Redacted(words), s.clock()-since)
}

// runningFunctions returns that of all nodes.
func runningFunctions(x *call) [][]byte {
	all := [][]byte{runningFunction(x.srv)}
	for _, a := range x.nodes("RUNNING") {
		all = append(all, a.Writer)
	}
	return all
}
