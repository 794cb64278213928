package node

// Kill ends the node as a loss of its machine's power does.
func (n *Node) Kill() {
	_ = n.Close()
	n.finish(nil)
}
