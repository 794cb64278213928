package node

import "context"

// Kill ends the node as kill -9 ends its process, or a power failure its machine. At once no
// message leaves it or reaches it, and its disk stores no further writes of clients. Nothing is
// announced, handed over or made durable in order. Then Kill closes the node and waits for that.
// The directory can be opened again, and has all acknowledged writes as far as [Config.Fsync]
// promises that for a killed process.
//
// Kill of a node that is being closed waits for the close. Done is closed, too, and Err is nil.
func (n *Node) Kill() {
	n.finish(nil)
	n.closeOnce.Do(n.kill)
}

func (n *Node) kill() {
	n.cfg.env.Conns.CloseAll()
	_ = n.local.Close()
	n.store.Crash()
	// No other node sees the rest.
	n.health.Stopping()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	n.endWaits()
	n.cluster.endForwards()
	_ = n.server.Close(over)
	<-n.served
	n.cluster.close()
	n.cluster.forwardConns.wait(context.Background())
	_, _, _ = n.store.Close(), n.closeWeb(over), n.metrics.Close()
	n.traces.Close()
}
