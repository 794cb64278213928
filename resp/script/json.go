package script

import (
	lua "github.com/yuin/gopher-lua"
)

// cjson: JSON, with the settings and errors of lua-cjson. What its settings are changed to
// holds until the script ends.

type jsonSettings struct {
	sparseConvert     bool
	sparseRatio, safe int
	encodeDepth       int
	decodeDepth       int
	precision         int
	keepBuffer        bool
	encodeBad         string // "on", "off" or "null"
	decodeBad         string
}

func defaultJSON() jsonSettings {
	return jsonSettings{sparseRatio: 2, safe: 10, encodeDepth: 1000, decodeDepth: 1000, precision: 14, keepBuffer: true, encodeBad: "off", decodeBad: "on"}
}

func (r *Runtime) openJSON() {
	null := r.l.NewUserData()
	r.own.RawSetString("cjson", r.newJSON(&r.encoder, null))
}

func (r *Runtime) newJSON(settings *jsonSettings, null *lua.LUserData) *lua.LTable {
	t := r.l.NewTable()
	set := func(name string, f lua.LGFunction) { t.RawSetString(name, r.l.NewFunction(f)) }
	set("encode", func(l *lua.LState) int {
		if l.GetTop() != 1 {
			l.ArgError(1, "expected 1 argument")
		}
		e := jsonEncoder{effort: r.effort(l), set: settings, null: null}
		e.append(l.Get(1), 0)
		return push(l, lua.LString(e.buf))
	})
	set("decode", func(l *lua.LState) int {
		if l.GetTop() != 1 {
			l.ArgError(1, "expected 1 argument")
		}
		text := l.CheckString(1)
		v, err := decodeJSON(l, text, settings, null)
		if err != nil {
			l.RaiseError("%s", err.Error())
		}
		return push(l, v)
	})
	set("new", func(l *lua.LState) int {
		own := defaultJSON()
		return push(l, r.newJSON(&own, null))
	})
	number := func(name string, of func() *int, least, most int) {
		set(name, func(l *lua.LState) int {
			p := of()
			if l.GetTop() > 0 && l.Get(1) != lua.LNil {
				n := l.CheckInt(1)
				if n < least || n > most {
					l.ArgError(1, "expected integer between "+itoa(least)+" and "+itoa(most))
				}
				*p = n
			}
			return push(l, lua.LNumber(*p))
		})
	}
	const most = 1<<31 - 1
	number("encode_max_depth", func() *int { return &settings.encodeDepth }, 1, most)
	number("decode_max_depth", func() *int { return &settings.decodeDepth }, 1, most)
	number("encode_number_precision", func() *int { return &settings.precision }, 1, 14)
	choice := func(name string, of func() *string) {
		set(name, func(l *lua.LState) int {
			p := of()
			switch v := l.Get(1).(type) {
			case lua.LBool:
				*p = map[bool]string{true: "on", false: "off"}[bool(v)]
			case lua.LString:
				if v != "on" && v != "off" && v != "null" {
					l.ArgError(1, "invalid option '"+string(v)+"'")
				}
				*p = string(v)
			}
			if *p == "null" {
				return push(l, lua.LString("null"))
			}
			return push(l, lua.LBool(*p == "on"))
		})
	}
	choice("encode_invalid_numbers", func() *string { return &settings.encodeBad })
	choice("decode_invalid_numbers", func() *string { return &settings.decodeBad })
	set("encode_keep_buffer", func(l *lua.LState) int {
		if v, ok := l.Get(1).(lua.LBool); ok {
			settings.keepBuffer = bool(v)
		}
		return push(l, lua.LBool(settings.keepBuffer))
	})
	set("encode_sparse_array", func(l *lua.LState) int {
		if v, ok := l.Get(1).(lua.LBool); ok {
			settings.sparseConvert = bool(v)
		}
		for i, p := range []*int{&settings.sparseRatio, &settings.safe} {
			if l.GetTop() >= i+2 {
				if *p = l.CheckInt(i + 2); *p < 0 {
					l.ArgError(i+2, "expected integer between 0 and "+itoa(most))
				}
			}
		}
		l.Push(lua.LBool(settings.sparseConvert))
		l.Push(lua.LNumber(settings.sparseRatio))
		l.Push(lua.LNumber(settings.safe))
		return 3
	})
	t.RawSetString("null", null)
	t.RawSetString("_NAME", lua.LString("cjson"))
	t.RawSetString("_VERSION", lua.LString("2.1.0"))
	return t
}
