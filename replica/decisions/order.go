package decisions

import (
	"encoding/json"
	"fmt"

	"github.com/ringside-kv/ringside/internal/agreed"
)

// orderName is the agreed value that has the last order. What the order changes are the decisions before it.
const orderName = "order/last"

// An Order is what a user has told the cluster to do.
type Order struct {
	User string `json:"user"`
	Node string `json:"node"` // to which the user was connected
	Text string `json:"text"`
}

// Change returns the change of agreed values that has all nodes note an order.
func (o Order) Change(values *agreed.Values) agreed.Change {
	body, _ := json.Marshal(o) // strings are always encoded
	return agreed.Change{Name: orderName, Body: string(body), Was: values.Of(orderName).Version}
}

// orderText returns an order as a decision; it is that of another build if it cannot be read.
func orderText(body string) string {
	var o Order
	if err := json.Unmarshal([]byte(body), &o); err != nil || o.Text == "" {
		return "an order was given"
	}
	return fmt.Sprintf("user %s ordered at node %s: %s", o.User, o.Node, o.Text)
}
