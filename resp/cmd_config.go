package resp

import (
	"bytes"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/glob"
	"github.com/ringside-kv/ringside/resp/wire"
)

func cmdConfigGet(x *call) {
	type match struct {
		name  []byte
		param *configParam
	}
	var found []match
	for i := range x.srv.config {
		p := &x.srv.config[i]
		for _, pattern := range x.Args[2:] {
			if !glob.Match(pattern, []byte(p.name), true) {
				continue
			}
			name := []byte(p.name)
			if wire.EqualFold(pattern, p.name) {
				name = pattern // as the client wrote it
			}
			found = append(found, match{name, p})
			break
		}
	}
	x.Map(len(found))
	for _, m := range found {
		x.Bulk(m.name)
		x.BulkString(m.param.get())
	}
}

// cmdConfigSet changes all settings that it is given, or none.
func cmdConfigSet(x *call) {
	args := x.Args[2:]
	if len(args)%2 != 0 {
		x.Error(command.MsgSyntax)
		return
	}
	params := make([]*configParam, len(args)/2)
	for i := range params {
		if params[i] = x.srv.config.find(args[2*i]); params[i] == nil {
			x.Error("ERR Unknown option or number of arguments for CONFIG SET - '" + string(command.Shown(args[2*i], 128)) + "'")
			return
		}
	}
	var changes []func()
	for i, p := range params {
		apply, fault := p.change(args[2*i+1])
		for _, earlier := range params[:i] {
			if earlier == p {
				fault = "duplicate parameter"
			}
		}
		if fault != "" {
			x.Error("ERR CONFIG SET failed (possibly related to argument '" + string(command.Shown(args[2*i], 128)) + "') - " + fault)
			return
		}
		changes = append(changes, apply)
	}
	for _, apply := range changes {
		apply()
	}
	for i, p := range params {
		value := args[2*i+1]
		if p.name == "requirepass" {
			value = redactedWord
		}
		x.srv.log.Info("setting changed", "name", p.name, "value", string(command.Shown(value, 128)), "client", x.conn.session.id)
	}
	x.OK()
}

// change understands a new value. One that only a restart could change may be set to
// what it is: tools do that to be sure.
func (p *configParam) change(value []byte) (apply func(), fault string) {
	if p.parse != nil {
		return p.parse(string(value))
	}
	if !bytes.Equal(value, []byte(p.get())) {
		return nil, "can't set immutable config"
	}
	return func() {}, ""
}

func cmdConfigResetstat(x *call) {
	x.srv.stats.reset()
	x.srv.stats.expiredBefore.Store(x.srv.store.Stats().Expired)
	x.OK()
}

func cmdConfigHelp(x *command.Call) {
	command.Help(x, "CONFIG",
		"GET <pattern> [<pattern> ...]",
		"    Show the settings whose names match a pattern.",
		"SET <name> <value> [<name> <value> ...]",
		"    Change settings, all of them or none.",
		"RESETSTAT",
		"    Set the counters of INFO back to zero.",
	)
}
