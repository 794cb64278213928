package identity

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ringside-kv/ringside/resp/client"
)

// A Server is what tells a cluster of Ringside, or another server, from others.
type Server struct {
	// Addr is where it was reached.
	Addr string `json:"addr"`
	// Cluster is the name of a cluster, and Generation the number that was drawn when it was founded. Both are empty
	// for a server that is not Ringside, or that does not let the user ask.
	Cluster    string `json:"cluster,omitempty"`
	Generation string `json:"generation,omitempty"`
}

// ErrNoCluster reports that a server of Ringside is not part of a cluster yet.
var ErrNoCluster = errors.New("the node is not part of a cluster yet")

// Command is the command whose reply [Parse] reads.
var Command = []string{"RING", "INFO"}

// Parse reads the reply to [Command] of the server at an address. A server that does not know the command, or does not let
// the user send it, is known by its address alone. The error is ErrNoCluster, or that of the reply.
func Parse(reply client.Reply, addr string) (Server, error) {
	s := Server{Addr: addr}
	text, err := reply.Text()
	var refused *client.ServerError
	if errors.As(err, &refused) && (refused.Code == "ERR" || refused.Code == "NOPERM") {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s.Cluster, s.Generation = Field(text, "cluster"), Field(text, "generation")
	if s.Generation == "" || s.Generation == "0" {
		return Server{Addr: addr}, ErrNoCluster
	}
	return s, nil
}

// Same reports whether both are the same: one cluster at whatever addresses, or one address of a server that is in none.
func (s Server) Same(other Server) bool {
	if s.Generation != "" || other.Generation != "" {
		return s.Generation == other.Generation
	}
	return s.Addr == other.Addr
}

// String names the server in an error.
func (s Server) String() string {
	if s.Generation == "" {
		return "the server at " + s.Addr
	}
	return fmt.Sprintf("cluster %q, generation %s, at %s", s.Cluster, s.Generation, s.Addr)
}

// Field returns a field of a reply to INFO or RING INFO; empty if there is none.
func Field(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), name+":"); ok {
			return value
		}
	}
	return ""
}
