package pubsub

// OwnMessages are messages of a client to itself. As in Redis since 7.2, they follow the reply of the command that
// has published them: that of the whole transaction or script, too. They belong to the client's goroutine.
type OwnMessages struct {
	buf  []byte
	ends []int // where those of each command end that is counted
}

// Keep keeps a message until the reply is complete. mark begins it, in the client's version of the protocol.
func (o *OwnMessages) Keep(text []byte, mark byte) {
	at := len(o.buf)
	o.buf = append(o.buf, text...)
	o.buf[at] = mark
}

// Count begins to count commands.
func (o *OwnMessages) Count() { o.ends = o.ends[:0] }

// Ended notes the end of a command.
func (o *OwnMessages) Ended() { o.ends = append(o.ends, len(o.buf)) }

// AppendOf appends the messages of the i-th command that was counted.
func (o *OwnMessages) AppendOf(dst []byte, i int) []byte {
	from := 0
	if i > 0 {
		from = o.ends[i-1]
	}
	return append(dst, o.buf[from:o.ends[i]]...)
}

// AppendAll appends all messages, and forgets them.
func (o *OwnMessages) AppendAll(dst []byte) []byte {
	dst = append(dst, o.buf...)
	o.Forget()
	return dst
}

// Forget forgets all messages.
func (o *OwnMessages) Forget() {
	if o.buf = o.buf[:0]; cap(o.buf) > keepText {
		o.buf = nil
	}
}
