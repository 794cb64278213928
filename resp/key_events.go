package resp

import (
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/keyevents"
	"github.com/ringside-kv/ringside/resp/internal/relay"
	"github.com/ringside-kv/ringside/resp/internal/settings"
)

// Key events (package keyevents), as the server and its commands use them.

func newKeyEvents(s *Server) *keyevents.Events {
	return keyevents.New(keyevents.Config{
		Store: s.store, PubSub: &s.pubsub, Policies: s.policies, Self: s.selfID, Run: s.runID, Clock: s.clock,
		TellAll: s.cfg.TellAll, MaxQueued: s.keptMost, Stop: s.stop, Logger: s.log,
	})
}

// livePeers are the nodes that seem to be there.
func (r *Routes) livePeers() (peers []relay.Peer) {
	for _, peer := range r.peers {
		peers = append(peers, relay.PeerAt(peer.ID, peer.Link))
	}
	return peers
}

func (r *Routes) hasPeer(node string) bool {
	return slices.ContainsFunc(r.peers, func(p *Route) bool { return p.ID == node })
}

// cmdRingEvents takes in events of another node.
func cmdRingEvents(x *call) {
	reply, ok := x.srv.keyEvents.Answer(x.Args)
	if !ok {
		x.Error(command.MsgNotInteger)
		return
	}
	x.Int(reply)
}

func (s *Server) parseEventSetting(value string) (func(), string) {
	c, ok := settings.ParseEvents(value)
	if !ok {
		return nil, settings.FaultEvents
	}
	return func() { s.keyEvents.SetOwn(c) }, ""
}
