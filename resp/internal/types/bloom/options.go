package bloom

import (
	"fmt"
	"strconv"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/bloom"
)

// What a filter has unless it is told otherwise, and what it may have, as with RedisBloom.
const (
	defaultError     = 0.01
	largestError     = 0.25 // larger ones count as this
	defaultCapacity  = 100
	maxCapacity      = 1 << 30
	defaultExpansion = 2
	maxExpansion     = 32768
)

// options are what a filter is made with, and what is added to it.
type options struct {
	errorRate float64
	capacity  int64
	expansion int64
	fixed     bool
	noCreate  bool
	items     [][]byte
}

func defaults() options {
	return options{errorRate: defaultError, capacity: defaultCapacity, expansion: defaultExpansion}
}

// chain returns an empty chain of filters whose bits take at most so many bytes.
func (o *options) chain(most int64) (*bloom.Chain, error) {
	return bloom.New(uint64(o.capacity), o.errorRate, uint64(o.expansion), o.fixed, most)
}

// setError reads an error rate. msg is an error reply.
func (o *options) setError(arg []byte) (msg string) {
	f, err := strconv.ParseFloat(string(arg), 64)
	switch {
	case err != nil || f != f:
		return "ERR bad error rate"
	case f <= 0 || f >= 1:
		return fmt.Sprintf("ERR error rate must be in the range (%f, %f)", 0.0, 1.0)
	}
	o.errorRate = min(f, largestError)
	return ""
}

// setCapacity reads a capacity. msg is an error reply.
func (o *options) setCapacity(arg []byte) (msg string) {
	n, ok := wire.ParseInt(arg)
	switch {
	case !ok:
		return "ERR bad capacity"
	case n < 1 || n > maxCapacity:
		return fmt.Sprintf("ERR capacity must be in the range [1, %d]", maxCapacity)
	}
	o.capacity = n
	return ""
}

// setExpansion reads an expansion; 0 is a filter that does not grow. msg is an error reply.
func (o *options) setExpansion(arg []byte) (msg string) {
	n, ok := wire.ParseInt(arg)
	switch {
	case !ok:
		return "ERR bad expansion"
	case n < 0 || n > maxExpansion:
		return fmt.Sprintf("ERR expansion must be in the range [0, %d]", maxExpansion)
	}
	o.expansion = n
	o.fixed = o.fixed || n == 0
	return ""
}

// parseReserve reads the arguments of BF.RESERVE behind the key. msg is an error reply.
func parseReserve(args [][]byte) (o options, msg string) {
	o = defaults()
	if msg := o.setError(args[0]); msg != "" {
		return o, msg
	}
	if msg := o.setCapacity(args[1]); msg != "" {
		return o, msg
	}
	expands := false
	for args = args[2:]; len(args) > 0; args = args[1:] {
		switch {
		case wire.EqualFold(args[0], "nonscaling"):
			o.fixed = true
		case wire.EqualFold(args[0], "expansion"):
			if len(args) == 1 {
				return o, "ERR no expansion"
			}
			if msg := o.setExpansion(args[1]); msg != "" {
				return o, msg
			}
			expands = o.expansion != 0
			args = args[1:]
		default:
			return o, command.MsgSyntax
		}
	}
	if expands && o.fixed {
		return o, "ERR Nonscaling filters cannot expand"
	}
	return o, ""
}

// parseInsert reads the arguments of BF.INSERT behind the key. msg is an error reply.
func parseInsert(args [][]byte) (o options, msg string) {
	o = defaults()
	for ; len(args) > 0; args = args[1:] {
		var set func([]byte) string
		switch {
		case wire.EqualFold(args[0], "items"):
			o.items = args[1:]
			return o, ""
		case wire.EqualFold(args[0], "nocreate"):
			o.noCreate = true
			continue
		case wire.EqualFold(args[0], "nonscaling"):
			o.fixed = true
			continue
		case wire.EqualFold(args[0], "error"):
			set = o.setError
		case wire.EqualFold(args[0], "capacity"):
			set = o.setCapacity
		case wire.EqualFold(args[0], "expansion"):
			set = o.setExpansion
		default:
			return o, "ERR Unknown argument received"
		}
		if len(args) == 1 {
			return o, command.MsgSyntax
		}
		if msg := set(args[1]); msg != "" {
			return o, msg
		}
		args = args[1:]
	}
	return o, ""
}
