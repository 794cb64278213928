package quota

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// A Limit is what a cluster has agreed on for one database.
type Limit struct {
	// Bytes is how many bytes all primaries together may hold of it; 0 if it has no limit of its own.
	Bytes int64 `json:"bytes,omitempty"`
	// Policy names which of its keys are evicted; empty: those that the node's policy says.
	Policy string `json:"policy,omitempty"`
}

// msgOrder answers an order that says something else.
const msgOrder = "ERR RING DATABASE takes TOGETHER or SPREAD, or QUOTA with a number of bytes and POLICY with a name"

// prefix is that of the agreed values of limits; a decimal number of a database follows.
const prefix = "quota/"

// limits are the accounts of the databases that have a limit or a policy of their own.
type limits struct{ all []*account } // by their databases

// of returns the account of data; nil if it has none. l may be nil.
func (l *limits) of(data int) *account {
	if l == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(l.all, data, func(a *account, n int) int { return cmp.Compare(a.data, n) })
	if !ok {
		return nil
	}
	return l.all[i]
}

// LimitOf returns what is agreed for a database, as far as this node knows.
func (q *Quota) LimitOf(database int) Limit {
	if l := q.limits.Load(); l != nil {
		for _, a := range l.all {
			if a.database == database {
				return a.agreed
			}
		}
	}
	return Limit{}
}

// LimitIn returns what agreed values say about a database.
func LimitIn(values *agreed.Values, database int) Limit {
	limit, _ := parseLimit(values.Of(prefix + strconv.Itoa(database)))
	return limit
}

// parseLimit reads an agreed value. What cannot be read, as a policy of a later version, is no limit.
func parseLimit(v agreed.Value) (l Limit, policy settings.Policy) {
	if v.Version == 0 || json.Unmarshal([]byte(v.Body), &l) != nil || l.Bytes < 0 {
		return Limit{}, settings.NoEviction
	}
	policy, ok := settings.ParsePolicy(l.Policy)
	if !ok {
		l.Policy = ""
	}
	return l, policy
}

// Agreed gives the quota the values that the cluster has agreed on.
func (q *Quota) Agreed(values *agreed.Values) {
	was := q.limits.Load()
	order, _ := database.ParseOrder(values.Of(database.OrderName).Body) // as in database.Policies.Ordered
	var next *limits
	same := true
	for _, v := range values.Under(prefix) {
		n, err := strconv.Atoi(strings.TrimPrefix(v.Name, prefix))
		l, policy := parseLimit(v)
		if err != nil || l == (Limit{}) {
			continue
		}
		data := order.Shown(n).Data
		a := was.of(data)
		if a == nil || a.agreed != l || a.database != n {
			same = false
			a = &account{database: n, data: data, agreed: l, policy: policy, draw: drawer{store: q.cfg.Store, spans: q.cfg.Spans}}
		}
		if next == nil {
			next = new(limits)
		}
		next.all = append(next.all, a)
	}
	if same && (next == nil) == (was == nil) && (next == nil || len(next.all) == len(was.all)) {
		return
	}
	if next != nil {
		slices.SortFunc(next.all, func(a, b *account) int { return cmp.Compare(a.data, b.data) })
		q.divide(next)
	}
	q.limits.Store(next)
	q.SettingsChanged()
}

// divide says how much of each quota this node may hold: all of it if the database is kept together, else as
// much as it has of the tokens, over which keys are spread evenly.
func (q *Quota) divide(l *limits) {
	tokens := uint64(0)
	for _, s := range q.cfg.Spans() {
		tokens += s.Len()
	}
	for _, a := range l.all {
		switch part := float64(tokens) / float64(ring.Whole.Len()); {
		case a.agreed.Bytes == 0:
		case q.cfg.IsTogether(a.data):
			a.share.Store(a.agreed.Bytes)
		default:
			a.share.Store(max(int64(float64(a.agreed.Bytes)*part), 1))
		}
	}
}

// ParseOrder reads the end of RING DATABASE number QUOTA bytes|NONE [POLICY name|NONE], or only the POLICY of
// it. It returns the agreed value to set, for one that is known. msg is an error reply.
func ParseOrder(words [][]byte, values *agreed.Values, database int) (change agreed.Change, msg string) {
	was := values.Of(prefix + strconv.Itoa(database))
	l, _ := parseLimit(was)
	if len(words)%2 != 0 {
		return change, msgOrder
	}
	for ; len(words) > 0; words = words[2:] {
		value := string(words[1])
		none := wire.EqualFold(words[1], "none")
		switch {
		case wire.EqualFold(words[0], "quota") && none:
			l.Bytes = 0
		case wire.EqualFold(words[0], "quota"):
			n, ok := settings.ParseBytes(value)
			if !ok {
				return change, "ERR the quota of a database is a number of bytes, as 10gb, or NONE"
			}
			l.Bytes = n
		case wire.EqualFold(words[0], "policy") && none:
			l.Policy = ""
		case wire.EqualFold(words[0], "policy"):
			p, ok := settings.ParsePolicy(value)
			if !ok || value == "" {
				return change, "ERR the policy of a database is NONE or one of " + strings.Join(settings.PolicyNames(), ", ")
			}
			l.Policy = p.String()
		default:
			return change, msgOrder
		}
	}
	body, _ := json.Marshal(l) // of a number and a name
	return agreed.Change{Name: was.Name, Body: string(body), Remove: l == (Limit{}), Was: was.Version}, ""
}

// Describe returns a limit as lines of a name and a value.
func (l Limit) Describe() string {
	return fmt.Sprintf("quota:%d\r\nquota_policy:%s\r\n", l.Bytes, cmp.Or(l.Policy, "none"))
}
