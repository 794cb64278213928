package client_test

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/ringside-kv/ringside/resp/client"
)

// A batch of two commands travels to a peer, here at the other end of a pipe.
func ExamplePeer() {
	near, far := net.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() {
		_ = client.ServeForward(far, client.ServeConfig{}, func(batches []*client.Batch, _ func(int)) {
			for _, b := range batches {
				_ = b.Reply([]uint32{5, 7}, nil, []byte("+OK\r\n$1\r\nv\r\n"))
			}
		})
	})
	defer serving.Wait()

	peer, err := client.NewPeer(client.PeerConfig{
		Conns: 1,
		Dial:  func(context.Context) (net.Conn, error) { return near, nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer peer.Close()

	call := client.Call{Commands: []byte("SET k v\r\nGET k\r\n"), N: 2}
	if err := peer.Send(&call); err != nil {
		fmt.Println(err)
		return
	}
	if err := call.Wait(); err != nil {
		fmt.Println(err)
		return
	}
	rest := call.Reply
	for _, n := range call.Lens {
		fmt.Printf("%q\n", rest[:n])
		rest = rest[n:]
	}
	// Output:
	// "+OK\r\n"
	// "$1\r\nv\r\n"
}
