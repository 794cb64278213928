package redistest

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A session is a connection of this package itself, while no test uses the server.
type session struct {
	conn    net.Conn
	replies *wire.ReplyReader
}

func (s *server) open() (*session, error) {
	conn, err := net.DialTimeout("tcp", s.addr, patience)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	ses := &session{conn: conn, replies: wire.NewReplyReader(conn)}
	if i := slices.Index(s.options, "--requirepass"); i >= 0 && s.options[i+1] != "" {
		if _, err := ses.do("AUTH", s.options[i+1]); err != nil {
			ses.close()
			return nil, err
		}
	}
	return ses, nil
}

func (ses *session) close() { _ = ses.conn.Close() }

// do returns a reply, which is valid until the next one.
func (ses *session) do(words ...string) (*wire.Reply, error) {
	if _, err := ses.conn.Write(wire.AppendRequest(nil, words...)); err != nil {
		return nil, err
	}
	reply, err := ses.replies.Read()
	if err == nil && reply.Kind == '-' {
		err = fmt.Errorf("%s: %s", words[0], reply.Text)
	}
	return reply, err
}

// settings returns all settings of the server.
func (ses *session) settings() (map[string]string, error) {
	reply, err := ses.do("CONFIG", "GET", "*")
	if err != nil {
		return nil, err
	}
	all := make(map[string]string, len(reply.Values)/2)
	for pair := range slices.Chunk(reply.Values, 2) {
		all[string(pair[0])] = string(pair[1])
	}
	return all, nil
}

// readSettings notes the settings that reset restores.
func (s *server) readSettings() error {
	ses, err := s.open()
	if err != nil {
		return err
	}
	defer ses.close()
	s.settings, err = ses.settings()
	return err
}

// reset undoes what tests do to a server: data, scripts, functions, users, connections, counts
// and settings.
func (s *server) reset() error {
	ses, err := s.open()
	if err != nil {
		return err
	}
	defer ses.close()
	for _, line := range []string{
		"CLIENT KILL SKIPME yes", "CLIENT UNPAUSE", "FLUSHALL SYNC", "SCRIPT FLUSH SYNC", "FUNCTION FLUSH SYNC",
	} {
		if _, err := ses.do(strings.Fields(line)...); err != nil {
			return err
		}
	}
	if err := ses.restoreUsers(); err != nil {
		return err
	}
	now, err := ses.settings()
	if err != nil {
		return err
	}
	for name, value := range s.settings {
		if now[name] == value {
			continue
		}
		if _, err := ses.do("CONFIG", "SET", name, value); err != nil {
			return err
		}
	}
	for _, line := range []string{"ACL LOG RESET", "SLOWLOG RESET", "LATENCY RESET", "CONFIG RESETSTAT"} {
		if _, err := ses.do(strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

// restoreUsers deletes all users but the default one, whose password is a setting.
func (ses *session) restoreUsers() error {
	reply, err := ses.do("ACL", "USERS")
	if err != nil {
		return err
	}
	words := []string{"ACL", "DELUSER"}
	for _, name := range reply.Values {
		if string(name) != "default" {
			words = append(words, string(name))
		}
	}
	if len(words) == 2 {
		return nil
	}
	_, err = ses.do(words...)
	return err
}

// takeSlots makes the server a cluster of its own, and waits until it serves all slots.
func (s *server) takeSlots() error {
	ses, err := s.open()
	if err != nil {
		return err
	}
	defer ses.close()
	if _, err := ses.do("CLUSTER", "ADDSLOTSRANGE", "0", "16383"); err != nil {
		return err
	}
	// A node takes two seconds before it says that its cluster is whole.
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		reply, err := ses.do("CLUSTER", "INFO")
		if err != nil {
			return err
		}
		if strings.Contains(string(reply.Text), "cluster_state:ok") {
			return nil
		}
	}
	return errors.New("the cluster of one Redis does not get ready")
}
