package drive

import (
	"bytes"

	"github.com/ringside-kv/ringside/loadtest/series"
	"github.com/ringside-kv/ringside/loadtest/verify"
)

// A class is what an error means for whoever asked.
type class struct {
	seen       series.Outcome
	written    verify.Outcome
	redirected int64
}

// classes are the codes of errors that tell what became of a command. All others are taken
// for an unknown outcome if the command writes: a proxy may have lost its server.
var classes = map[string]class{
	"UNKNOWN": {seen: series.Unknown, written: verify.Unknown},

	// The server has not executed it, and may do so soon, or somewhere else.
	"TRYAGAIN":    {seen: series.Refused, written: verify.Refused},
	"CLUSTERDOWN": {seen: series.Refused, written: verify.Refused},
	"LOADING":     {seen: series.Refused, written: verify.Refused},
	"MASTERDOWN":  {seen: series.Refused, written: verify.Refused},
	"NOREPLICAS":  {seen: series.Refused, written: verify.Refused},
	"MISCONF":     {seen: series.Refused, written: verify.Refused},
	"READONLY":    {seen: series.Refused, written: verify.Refused},
	"OOM":         {seen: series.Refused, written: verify.Refused},
	"BUSY":        {seen: series.Refused, written: verify.Refused},
	"MOVED":       {seen: series.Refused, written: verify.Refused, redirected: 1},
	"ASK":         {seen: series.Refused, written: verify.Refused, redirected: 1},

	// It should not have been asked for.
	"WRONGTYPE": {seen: series.Wrong, written: verify.Refused},
	"CROSSSLOT": {seen: series.Wrong, written: verify.Refused},
	"NOAUTH":    {seen: series.Wrong, written: verify.Refused},
	"WRONGPASS": {seen: series.Wrong, written: verify.Refused},
	"NOPERM":    {seen: series.Wrong, written: verify.Refused},
	"DENIED":    {seen: series.Wrong, written: verify.Refused},
	"NOPROTO":   {seen: series.Wrong, written: verify.Refused},
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
		c = class{seen: series.Unknown, written: verify.Unknown}
		for _, w := range wrongWords {
			if bytes.HasPrefix(text, w) {
				c = class{seen: series.Wrong, written: verify.Refused}
			}
		}
	}
	if !writes && c.seen == series.Unknown {
		c = class{seen: series.Refused, written: verify.Refused}
	}
	return c
}

// broken is what the end of a connection means for what was on its way.
func broken(sent, writes bool) class {
	if sent && writes {
		return class{seen: series.Unknown, written: verify.Unknown}
	}
	return class{seen: series.Refused, written: verify.Refused}
}
