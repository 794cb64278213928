package node

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/resp/node/internal/placing"
)

// messageQuestion begins a message that is not for the table; messages for the table begin with
// lower numbers. A question follows as JSON, and the reply is an answer.
const messageQuestion = 'Q'

// maxQuestion bounds a question and an answer, in bytes.
const maxQuestion = 64 << 10

// Kinds of questions.
const (
	askEnter   = "enter"   // may this node enter the cluster?
	askPromise = "promise" // will the other one enter what this node founds?
	askChoice  = "choice"  // what has it chosen?
)

type question struct {
	Kind       string        `json:"kind"`
	Generation uint64        `json:"generation,string"`
	Expect     int           `json:"expect,omitempty"`
	Wants      placing.Wants `json:"wants"`
}

// An answer without a refusal is a yes.
type answer struct {
	Refusal string `json:"refusal,omitempty"`
	// Later says why the question has to be asked again.
	Later      string `json:"later,omitempty"`
	Generation uint64 `json:"generation,string"`
	Founder    string `json:"founder,omitempty"`
	// Registered is the last start of the asking node that the cluster knows; 0 if it knows none.
	Registered uint64 `json:"registered,string,omitempty"`
}

func (c *cluster) ask(ctx context.Context, node string, q *question) (*answer, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	conn, err := c.dial(ctx, node, bus.Control)
	if err != nil {
		return nil, err
	}
	reply, err := exchange(ctx, conn, append([]byte{messageQuestion}, text...))
	if err != nil {
		return nil, err
	}
	a := new(answer)
	if len(reply) > maxQuestion {
		return nil, fmt.Errorf("an answer of %d bytes", len(reply))
	}
	if err := json.Unmarshal(reply, a); err != nil {
		return nil, fmt.Errorf("an answer that cannot be read: %w", err)
	}
	return a, nil
}

// reply answers whatever comes: a message to the table or a question.
func (c *cluster) reply(from string, message []byte) ([]byte, error) {
	if len(message) > 0 && message[0] == messageEngine {
		return c.engine.Answer(c.ctx, from, message[1:])
	}
	if len(message) > 0 && message[0] == messageBackup {
		return c.backups.Answer(c.ctx, message[1:]), nil
	}
	if len(message) == 0 || message[0] != messageQuestion {
		return c.table.HandleForward(c.ctx, message)
	}
	if len(message) > maxQuestion {
		return nil, fmt.Errorf("a question of %d bytes", len(message))
	}
	q := new(question)
	if err := json.Unmarshal(message[1:], q); err != nil {
		return nil, fmt.Errorf("a question that cannot be read: %w", err)
	}
	var a *answer
	switch q.Kind {
	case askEnter:
		a = c.admit(from, q)
	case askPromise:
		a = c.entry.promise(from, q)
	case askChoice:
		b := c.entry.chosenMembership()
		a = &answer{Generation: b.Generation, Founder: b.Founder}
	default:
		a = &answer{Refusal: fmt.Sprintf("node %s does not know the question %.40q", c.n.id, q.Kind)}
	}
	return json.Marshal(a)
}

// admit reports whether a node may enter the cluster, and if not, says so here, too.
func (c *cluster) admit(from string, q *question) *answer {
	st := c.table.State()
	if !st.Founded() { // it was started again, and has not caught up yet
		return &answer{Later: "node " + c.n.id + " does not know the table yet"}
	}
	of := st.Cluster()
	if text := q.Wants.Differences(&of); text != "" {
		c.n.cfg.Logger.Warn("refused a node with other settings", "node", from, "err", text)
		return &answer{Refusal: text, Generation: st.Cluster().Generation}
	}
	n, _ := st.Node(from)
	return &answer{Generation: st.Cluster().Generation, Registered: n.Incarnation}
}
