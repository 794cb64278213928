package bitmaps

import (
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/strings"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

const msgFieldType = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."

// A fieldOp is one operation of BITFIELD.
type fieldOp struct {
	kind     fieldOpKind
	typ      fieldType
	offset   int64 // in bits
	value    int64 // to set, or to add
	overflow fieldOverflow
}

type fieldOpKind uint8

const (
	fieldGet fieldOpKind = iota
	fieldSet
	fieldIncr
)

func cmdBitfield(x *command.Call) { bitfield(x, false) }

func cmdBitfieldRo(x *command.Call) { bitfield(x, true) }

func bitfield(x *command.Call, readOnly bool) {
	ops, msg := parseFieldOps(x, x.Args[2:])
	if msg != "" {
		x.Error(msg)
		return
	}
	need := int64(0) // bytes, for what is written
	for i := range ops {
		if op := &ops[i]; op.kind != fieldGet {
			need = max(need, (op.offset+int64(op.typ.bits)+7)/8)
		}
	}
	if readOnly && need > 0 {
		x.Error("ERR BITFIELD_RO only supports the GET subcommand")
		return
	}
	v, ok := x.GetString(x.Args[1])
	if !ok {
		return
	}
	if need == 0 && !readOnly {
		x.CountLookup(x.Args[1], &v)
	}
	if !strings.Fits(x, need, 0) {
		x.Error(command.MsgBitOffset)
		return
	}
	runFieldOps(x, ops, v, need)
}

// runFieldOps replies with the results of the operations.
func runFieldOps(x *command.Call, ops []fieldOp, v store.Value, need int64) {
	at := len(x.Buf)
	w := bitWindow{x: x, key: x.Args[1], v: v}
	x.Array(len(ops))
	changes := false
	for i := range ops {
		n, ok, err := ops[i].run(&w)
		if err != nil {
			x.Buf = x.Buf[:at]
			x.Fail(err)
			return
		}
		changes = changes || ok && ops[i].kind != fieldGet
		if ok {
			x.Int(n)
		} else {
			x.Null()
		}
	}
	if err := w.store(need); err != nil {
		x.Buf = x.Buf[:at]
		x.Abort(err)
		return
	}
	if changes && (w.differs || need > v.Size) {
		x.Unit.Note(store.EventString, "setbit", x.Args[1])
	}
}

// parseFieldOps parses all operations. It returns an error reply, or "".
func parseFieldOps(x *command.Call, args [][]byte) (ops []fieldOp, msg string) {
	overflow := overflowWrap
	for len(args) > 0 {
		left := len(args) - 1
		op := fieldOp{overflow: overflow}
		switch name := args[0]; {
		case wire.EqualFold(name, "get") && left >= 2:
		case wire.EqualFold(name, "set") && left >= 3:
			op.kind = fieldSet
		case wire.EqualFold(name, "incrby") && left >= 3:
			op.kind = fieldIncr
		case wire.EqualFold(name, "overflow") && left >= 1:
			var ok bool
			if overflow, ok = overflowOf(args[1]); !ok {
				return nil, "ERR Invalid OVERFLOW type specified"
			}
			args = args[2:]
			continue
		default:
			return nil, command.MsgSyntax
		}
		var ok bool
		if op.typ, ok = fieldTypeOf(args[1]); !ok {
			return nil, msgFieldType
		}
		if op.offset, ok = fieldOffset(x, args[2], op.typ); !ok {
			return nil, command.MsgBitOffset
		}
		args = args[3:]
		if op.kind != fieldGet {
			if op.value, ok = wire.ParseInt(args[0]); !ok {
				return nil, command.MsgNotInteger
			}
			args = args[1:]
		}
		ops = append(ops, op)
	}
	return ops, ""
}

// fieldOffset parses an offset in bits, or with # in fields.
func fieldOffset(x *command.Call, arg []byte, t fieldType) (int64, bool) {
	if len(arg) == 0 || arg[0] != '#' {
		return bitOffset(x, arg)
	}
	n, ok := wire.ParseInt(arg[1:])
	if !ok || n < 0 || n > math.MaxInt64/int64(t.bits) {
		return 0, false
	}
	n *= int64(t.bits)
	return n, n>>3 < x.Limits.MaxValue.Load()
}

// run does one operation; false means that it failed by overflow.
func (op *fieldOp) run(w *bitWindow) (n int64, ok bool, err error) {
	raw, err := w.bits(op.offset, op.typ.bits)
	if err != nil || op.kind == fieldGet {
		return op.typ.value(raw), true, err
	}
	old := op.typ.value(raw)
	from, by := old, op.value
	if op.kind == fieldSet {
		from, by = op.value, 0
	}
	sum, ok := op.typ.add(from, by, op.overflow)
	if !ok {
		return 0, false, nil
	}
	if err := w.setBits(op.offset, op.typ.bits, uint64(sum)); err != nil {
		return 0, false, err
	}
	if op.kind == fieldSet {
		return old, true, nil
	}
	return sum, true, nil
}

// bitfieldKeyFlags: BITFIELD only reads if all its operations are GET. It skips
// their operands, which might be spelled like an operation; what it does not
// understand counts as a write.
func bitfieldKeyFlags(args [][]byte) string {
	for i := 2; i < len(args); i++ {
		left := len(args) - i - 1
		switch {
		case left >= 2 && wire.EqualFold(args[i], "get"):
			i += 2
		case left >= 1 && wire.EqualFold(args[i], "overflow"):
			i++
		default:
			return "RW access update"
		}
	}
	return "RO access"
}
