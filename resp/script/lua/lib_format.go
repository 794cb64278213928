package lua

import (
	"strings"

	"github.com/ringside-kv/ringside/resp/script/printf"
)

func stringFormat(t *Thread) int {
	format := t.CheckString(1)
	var room [128]byte
	b := t.bufferIn(room[:0])
	var scratch [128]byte
	for arg := 1; ; {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			break
		}
		b.Append(format[:i])
		if format = format[i+1:]; format != "" && format[0] == '%' {
			b.AppendByte('%')
			format = format[1:]
			continue
		}
		if arg++; arg > t.NArgs() {
			t.ArgError(arg, "no value")
		}
		c, at, err := printf.Parse(format)
		if err != nil {
			t.Errorf("%s", err)
		}
		var letter byte // a text of C ends with a zero byte
		if at < len(format) {
			letter = format[at]
			at++
		}
		format = format[at:]
		item := scratch[:0]
		switch letter {
		case 'c':
			item = c.AppendText(item, string([]byte{byte(toInt32(t.CheckNumber(arg)))}))
			if end := strings.IndexByte(stringOf(item), 0); end >= 0 {
				item = item[:end]
			}
		case 'd', 'i':
			item = c.AppendInt(item, int64(Integer(t.CheckNumber(arg))))
		case 'o', 'u', 'x', 'X':
			item = c.AppendUint(item, letter, Unsigned(t.CheckNumber(arg)))
		case 'e', 'E', 'f', 'g', 'G':
			item = c.AppendFloat(item, letter, t.CheckNumber(arg))
		case 'q':
			quote(&b, t.CheckString(arg))
			continue
		case 's':
			s := t.CheckString(arg)
			if c.Precision < 0 && (len(s) >= 100 || c.Width == 0 && strings.IndexByte(s, 0) < 0) {
				b.Append(s)
				continue
			}
			s = cutZero(s)
			if c.Precision >= 0 {
				s = s[:min(len(s), c.Precision)]
			}
			item = c.AppendText(item, s)
		default:
			t.Errorf("invalid option '%%%s' to 'format'", strings.TrimRight(string([]byte{letter}), "\x00"))
		}
		b.Append(stringOf(item))
	}
	b.Append(format)
	b.Push()
	return 1
}

// quote appends a string as Lua reads it.
func quote(b *Buffer, s string) {
	b.AppendByte('"')
	from := 0
	for i := range len(s) {
		escape := ""
		switch s[i] {
		case '"':
			escape = `\"`
		case '\\':
			escape = `\\`
		case '\n':
			escape = "\\\n"
		case '\r':
			escape = `\r`
		case 0:
			escape = `\000`
		default:
			if i-from < copySlice {
				continue
			}
			escape = s[i : i+1]
		}
		b.Append(s[from:i])
		b.Append(escape)
		from = i + 1
	}
	b.Append(s[from:])
	b.AppendByte('"')
}
