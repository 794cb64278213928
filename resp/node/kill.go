package node

import "context"

// Kill ends the node as kill -9 ends its process, or a loss of power its machine: at once
// nothing that it sends reaches anybody any more, nothing reaches it, and its disk takes no
// more of what clients do. Nobody is told, nothing is handed over or made durable in order.
// Then it is taken down, which Kill waits for. Its directory can be opened again, and has
// all that was acknowledged, as far as [Config.Fsync] promises that of a process that ends.
//
// A node that is being closed already is closed. Done is closed, too, and Err is nil.
func (n *Node) Kill() {
	n.finish(nil)
	n.closeOnce.Do(n.kill)
}

func (n *Node) kill() {
	n.cfg.env.conns.closeAll()
	n.store.Crash()
	// What is left of it sees nobody, and nobody sees it.
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
}
