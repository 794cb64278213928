package relay

import "time"

// A Peer is another node that seems to be there, for packages that ask it something again and again.
type Peer struct {
	ID string
	// Link is compared: another one is another way to the node.
	Link any
	// Open returns a way to send requests to the node and to wait for the replies, for one goroutine.
	Open func() func(request []byte, timeout time.Duration) (reply []byte, err error)
}

// PeerAt returns the peer that a link leads to.
func PeerAt(id string, link Link) Peer {
	return Peer{ID: id, Link: link, Open: func() func([]byte, time.Duration) ([]byte, error) {
		way := link.Way()
		return func(request []byte, timeout time.Duration) ([]byte, error) {
			if err := way.Send(request, 1, Terms{}, timeout, nil); err != nil {
				return nil, err
			}
			replies, err := way.Wait()
			return replies.Bytes, err
		}
	}}
}
