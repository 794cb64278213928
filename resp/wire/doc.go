// Package wire reads and writes RESP, the protocol of Redis, in versions 2 and 3.
//
// [Guard] finds the end of each request in what a client has sent, within [Limits]; [Split]
// cuts a request into its arguments. [Writer] collects replies. For clients, [AppendRequest]
// writes a request and [ReplyReader] reads replies; [ParseHead] and [ParseValue] are for readers that
// build values of their own. Numbers have the text that Redis reads and
// writes: [ParseInt], [ParseFloat], [AppendFloat], and [AddFloat] for the long doubles of
// INCRBYFLOAT.
package wire
