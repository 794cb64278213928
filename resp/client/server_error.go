package client

import (
	"errors"
	"strconv"
	"strings"
)

// A ServerError is an error that a server has answered with.
type ServerError struct {
	// Code is its first word, such as ERR, WRONGTYPE or CLUSTERDOWN.
	Code string
	// Text is all of it.
	Text string
}

func newServerError(text string) *ServerError {
	code, _, _ := strings.Cut(text, " ")
	return &ServerError{Code: code, Text: text}
}

// Error returns the server's text, which begins with its code.
func (e *ServerError) Error() string { return e.Text }

// Is makes the server's own word for it match [ErrUnknownOutcome].
func (e *ServerError) Is(target error) bool {
	return target == ErrUnknownOutcome && e.Code == codeUnknown
}

// The codes that the client heeds.
const (
	codeMoved   = "MOVED"
	codeUnknown = "UNKNOWN"
	codeCross   = "CROSSSLOT"
)

// notNow are the codes of servers that have not executed a command, and may do so soon.
var notNow = map[string]bool{"TRYAGAIN": true, "CLUSTERDOWN": true, "LOADING": true, "MASTERDOWN": true}

// notYou are the codes of servers that will not listen to this client, however often it
// tries.
var notYou = map[string]bool{"WRONGPASS": true, "NOAUTH": true, "NOPERM": true, "DENIED": true}

// refusesClient tells whether a server has turned the client away for good.
func refusesClient(err error) bool {
	var e *ServerError
	return errors.As(err, &e) && notYou[e.Code]
}

// final tells at a glance that nothing follows from a reply but itself.
func (r *Reply) final() bool {
	if r.kind != Error {
		return r.kind != Failed
	}
	code := r.code()
	return code != codeMoved && code != codeUnknown && code != codeCross && !notNow[code]
}

// code is the first word of an error reply.
func (r *Reply) code() string {
	if r.kind != Error {
		return ""
	}
	for i, b := range r.text {
		if b == ' ' {
			return string(r.text[:i])
		}
	}
	return string(r.text)
}

// moved reads a redirect: MOVED, then a slot or a token, then where to go.
func (r *Reply) moved() (at uint64, addr string, ok bool) {
	words := strings.Fields(string(r.text))
	if len(words) != 3 || words[0] != codeMoved || !strings.Contains(words[2], ":") {
		return 0, "", false
	}
	at, err := strconv.ParseUint(words[1], 10, 32)
	return at, words[2], err == nil
}
