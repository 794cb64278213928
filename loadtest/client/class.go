package client

import (
	"bytes"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// outcomes are the codes of errors that tell what became of a command. All others are taken
// for an unknown outcome if the command writes: a proxy may have lost its server.
var outcomes = map[string]result.Outcome{
	"UNKNOWN": result.Unknown,

	// The server has not executed it, and may do so soon, or somewhere else.
	"TRYAGAIN":    result.Refused,
	"CLUSTERDOWN": result.Refused,
	"LOADING":     result.Refused,
	"MASTERDOWN":  result.Refused,
	"NOREPLICAS":  result.Refused,
	"MISCONF":     result.Refused,
	"READONLY":    result.Refused,
	"OOM":         result.Refused,
	"BUSY":        result.Refused,
	"MOVED":       result.Refused,
	"ASK":         result.Refused,

	// It should not have been asked for.
	"WRONGTYPE": result.Wrong,
	"CROSSSLOT": result.Wrong,
	"NOAUTH":    result.Wrong,
	"WRONGPASS": result.Wrong,
	"NOPERM":    result.Wrong,
	"DENIED":    result.Wrong,
	"NOPROTO":   result.Wrong,
}

// wrongWords begin errors without a code of their own that say the same.
var wrongWords = [][]byte{
	[]byte("ERR value is not an integer"), []byte("ERR value is not a valid"), []byte("ERR syntax error"),
	[]byte("ERR unknown command"), []byte("ERR unknown subcommand"), []byte("ERR wrong number of arguments"),
	[]byte("ERR increment or decrement would overflow"), []byte("ERR invalid expire"), []byte("ERR invalid password"),
	[]byte("ERR no such key"), []byte("ERR offset is out of range"), []byte("ERR bit "), []byte("ERR string exceeds"),
}

// classify returns what an error reply means for the client, and how many redirects it is.
func classify(text []byte, writes bool) (seen result.Outcome, redirected int64) {
	code, _, _ := bytes.Cut(text, []byte(" "))
	if c := string(code); c == "MOVED" || c == "ASK" {
		redirected = 1
	}
	seen, ok := outcomes[string(code)]
	if !ok {
		seen = result.Unknown
		for _, w := range wrongWords {
			if bytes.HasPrefix(text, w) {
				seen = result.Wrong
			}
		}
	}
	if !writes && seen == result.Unknown {
		seen = result.Refused
	}
	return seen, redirected
}
