package client

import (
	"bytes"

	"github.com/ringside-kv/ringside/loadtest/check"
	"github.com/ringside-kv/ringside/loadtest/result"
)

// A class is what an error means for whoever asked.
type class struct {
	seen       result.Outcome
	written    check.Outcome
	redirected int64
}

// classes are the codes of errors that tell what became of a command. All others are taken
// for an unknown outcome if the command writes: a proxy may have lost its server.
var classes = map[string]class{
	"UNKNOWN": {seen: result.Unknown, written: check.Unknown},

	// The server has not executed it, and may do so soon, or somewhere else.
	"TRYAGAIN":    {seen: result.Refused, written: check.Refused},
	"CLUSTERDOWN": {seen: result.Refused, written: check.Refused},
	"LOADING":     {seen: result.Refused, written: check.Refused},
	"MASTERDOWN":  {seen: result.Refused, written: check.Refused},
	"NOREPLICAS":  {seen: result.Refused, written: check.Refused},
	"MISCONF":     {seen: result.Refused, written: check.Refused},
	"READONLY":    {seen: result.Refused, written: check.Refused},
	"OOM":         {seen: result.Refused, written: check.Refused},
	"BUSY":        {seen: result.Refused, written: check.Refused},
	"MOVED":       {seen: result.Refused, written: check.Refused, redirected: 1},
	"ASK":         {seen: result.Refused, written: check.Refused, redirected: 1},

	// It should not have been asked for.
	"WRONGTYPE": {seen: result.Wrong, written: check.Refused},
	"CROSSSLOT": {seen: result.Wrong, written: check.Refused},
	"NOAUTH":    {seen: result.Wrong, written: check.Refused},
	"WRONGPASS": {seen: result.Wrong, written: check.Refused},
	"NOPERM":    {seen: result.Wrong, written: check.Refused},
	"DENIED":    {seen: result.Wrong, written: check.Refused},
	"NOPROTO":   {seen: result.Wrong, written: check.Refused},
}

// wrongWords begin errors without a code of their own that say the same.
var wrongWords = [][]byte{
	[]byte("ERR value is not an integer"), []byte("ERR value is not a valid"), []byte("ERR syntax error"),
	[]byte("ERR unknown command"), []byte("ERR unknown subcommand"), []byte("ERR wrong number of arguments"),
	[]byte("ERR increment or decrement would overflow"), []byte("ERR invalid expire"), []byte("ERR invalid password"),
	[]byte("ERR no such key"), []byte("ERR offset is out of range"), []byte("ERR bit "), []byte("ERR string exceeds"),
}

// classify is what an error reply means.
func classify(text []byte, writes bool) class {
	code, _, _ := bytes.Cut(text, []byte(" "))
	c, ok := classes[string(code)]
	if !ok {
		c = class{seen: result.Unknown, written: check.Unknown}
		for _, w := range wrongWords {
			if bytes.HasPrefix(text, w) {
				c = class{seen: result.Wrong, written: check.Refused}
			}
		}
	}
	if !writes && c.seen == result.Unknown {
		c = class{seen: result.Refused, written: check.Refused}
	}
	return c
}

// broken is what the end of a connection means for what was on its way.
func broken(sent, writes bool) class {
	if sent && writes {
		return class{seen: result.Unknown, written: check.Unknown}
	}
	return class{seen: result.Refused, written: check.Refused}
}
