package client

// A queue is a list of calls, or of ops, through their next. The zero value is empty.
type queue[T any, E queued[T]] struct{ first, last *T }

type (
	callQueue = queue[Call, *Call]
	opQueue   = queue[op, *op]
)

// queued is what lies in one queue at a time.
type queued[T any] interface {
	*T
	behind() **T // what comes behind it
}

func (c *Call) behind() **Call { return &c.next }
func (o *op) behind() **op     { return &o.next }

func (q *queue[T, E]) push(e *T) {
	*E(e).behind() = nil
	if q.last == nil {
		q.first = e
	} else {
		*E(q.last).behind() = e
	}
	q.last = e
}

// pop takes the first, which there must be.
func (q *queue[T, E]) pop() *T {
	e := q.first
	next := E(e).behind()
	if q.first = *next; q.first == nil {
		q.last = nil
	}
	*next = nil
	return e
}

// join puts what other has behind, and empties it.
func (q *queue[T, E]) join(other *queue[T, E]) {
	if other.first == nil {
		return
	}
	if q.last == nil {
		q.first = other.first
	} else {
		*E(q.last).behind() = other.first
	}
	q.last = other.last
	*other = queue[T, E]{}
}
