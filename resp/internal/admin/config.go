package admin

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/glob"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/resp/wire"
)

func cmdConfigGet(x *call) {
	type match struct {
		name  []byte
		param *settings.Param
	}
	var found []match
	for i := range x.srv.Config {
		p := &x.srv.Config[i]
		for _, pattern := range x.Args[2:] {
			name := []byte(p.Name)
			switch {
			case bytes.ContainsAny(pattern, "[*?"):
				if p.Hidden || !glob.Match(pattern, name, true) {
					continue
				}
			case !wire.EqualFold(pattern, p.Name):
				continue
			default:
				name = pattern // as the client wrote it
			}
			found = append(found, match{name, p})
			break
		}
	}
	x.Map(len(found))
	for _, m := range found {
		x.Bulk(m.name)
		x.BulkString(m.param.Get())
	}
}

// cmdConfigSet changes all settings that it is given, or none. Those that decide what becomes of keys it
// changes at the other nodes as well, where the keys may lie.
func cmdConfigSet(x *call) {
	args := x.Args[2:]
	if len(args)%2 != 0 {
		x.Error(command.MsgSyntax)
		return
	}
	params := make([]*settings.Param, len(args)/2)
	refuse := func(name, fault string) {
		x.Error("ERR CONFIG SET failed (possibly related to argument '" + name + "') - " + fault)
	}
	for i := range params {
		name := string(command.Shown(args[2*i], 128))
		p := x.srv.Config.Find(args[2*i])
		switch {
		case p == nil:
			x.Error("ERR Unknown option or number of arguments for CONFIG SET - '" + name + "'")
			return
		case x.client.IsNode() && !p.EachNode:
			x.Error("ERR CONFIG SET " + name + " is not forwarded")
			return
		case p.Refusal != "":
			refuse(name, p.Refusal)
			return
		case slices.Contains(params[:i], p):
			refuse(name, "duplicate parameter")
			return
		}
		params[i] = p
	}
	var changes []func()
	for i, p := range params {
		apply, fault := p.Change(args[2*i+1])
		if fault != "" {
			refuse(p.Name, fault)
			return
		}
		changes = append(changes, apply)
	}
	for _, apply := range changes {
		apply()
	}
	for i, p := range params {
		value := args[2*i+1]
		if isSecret(p.Name) {
			value = []byte(command.RedactedWord)
		}
		x.srv.Log.Info("setting changed", "name", p.Name, "value", string(command.Shown(value, 128)), "client", x.client.ID())
	}
	if nodes, done := tellNodes(x, params); done < nodes {
		x.Error(fmt.Sprintf("ERR CONFIG SET is done at this node, but at %d of %d other nodes only: send it again", done, nodes))
		return
	}
	x.OK()
}

// tellNodes changes the settings at the other nodes that are to be the same there.
func tellNodes(x *call, params []*settings.Param) (nodes, done int) {
	words := slices.Clone(x.Args[:2])
	for i, p := range params {
		if p.EachNode {
			words = append(words, x.Args[2+2*i:4+2*i]...)
		}
	}
	if len(words) == 2 {
		return 0, 0
	}
	return x.client.TellNodes(words...)
}

// cmdConfigRewrite writes what CONFIG SET has changed into the file that the settings came from.
func cmdConfigRewrite(x *call) {
	if x.srv.Rewrite == nil {
		x.Error("ERR The server is running without a config file")
		return
	}
	if err := x.srv.Rewrite(x.srv.Config.Values(), x.srv.Initial); err != nil {
		x.srv.Log.Error("rewriting the configuration file failed", "file", x.srv.ConfigFile, "err", err)
		x.Error("ERR Rewriting config file: " + err.Error())
		return
	}
	x.OK()
}

func cmdConfigResetstat(x *call) {
	x.srv.Stats.Reset()
	expired := x.srv.Store.Stats()
	x.srv.Stats.ExpiredBefore.Store(expired.Expired)
	x.srv.Stats.ExpiredFieldsBefore.Store(expired.ExpiredFields)
	x.srv.Stats.FreedBefore.Store(expired.Freed + x.srv.Source.Functions().Freed)
	x.srv.Stats.EvictedBefore.Store(x.srv.Quota.Evicted())
	_, _, scripts := x.srv.Source.Scripts()
	x.srv.Stats.EvictedScriptsBefore.Store(scripts)
	x.srv.Users.Log.ResetDenied()
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
		"REWRITE",
		"    Write what SET has changed into the configuration file.",
	)
}

// isSecret reports whether a setting is a password, or a part of a login.
func isSecret(name string) bool {
	switch name {
	case "requirepass", "masterauth", "masteruser", "tls-key-file-pass", "tls-client-key-file-pass":
		return true
	}
	return false
}

// hideConfig hides a password that CONFIG SET is given.
func hideConfig(args [][]byte, hide func(from, to int)) {
	for i := 2; i+1 < len(args); i += 2 {
		if isSecret(strings.ToLower(string(args[i]))) {
			hide(i+1, i+2)
		}
	}
}
