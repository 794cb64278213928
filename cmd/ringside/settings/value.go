package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Text is a string that the command checks itself. kind is what the help shows as
// what to write.
func Text(p *string, kind string) pflag.Value { return &text{p, kind} }

type text struct {
	p    *string
	kind string
}

func (v *text) Set(s string) error { *v.p = s; return nil }
func (v *text) String() string     { return *v.p }
func (v *text) Type() string       { return v.kind }

// List is as many strings as its flag is given, which the command checks itself. It
// is for flags alone: neither a variable nor a file can hold one.
func List(p *[]string, kind string) pflag.Value { return &list{p, kind} }

type list struct {
	p    *[]string
	kind string
}

func (v *list) Set(s string) error { *v.p = append(*v.p, s); return nil }
func (v *list) String() string     { return strings.Join(*v.p, " ") }
func (v *list) Type() string       { return v.kind }

// Commas is strings with commas between them.
func Commas(p *[]string, kind string) pflag.Value { return &commas{p, kind} }

type commas struct {
	p    *[]string
	kind string
}

func (v *commas) Set(s string) error {
	*v.p = nil
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*v.p = append(*v.p, part)
		}
	}
	return nil
}
func (v *commas) String() string { return strings.Join(*v.p, ",") }
func (v *commas) Type() string   { return v.kind }

// OneOf is one of a few words.
func OneOf(p *string, words ...string) pflag.Value { return &oneOf{p, words} }

type oneOf struct {
	p     *string
	words []string
}

func (v *oneOf) Set(s string) error {
	for _, word := range v.words {
		if s == word {
			*v.p = s
			return nil
		}
	}
	last := len(v.words) - 1
	return fmt.Errorf("%q: use %s or %s", s, strings.Join(v.words[:last], ", "), v.words[last])
}

func (v *oneOf) String() string { return *v.p }
func (v *oneOf) Type() string   { return strings.Join(v.words, "|") }

// Count is a whole number.
func Count(p *int) pflag.Value { return (*count)(p) }

type count int

func (v *count) Set(s string) error {
	n, err := strconv.Atoi(s)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%q is too large a number", s)
	case err != nil:
		return fmt.Errorf("%q is not a whole number", s)
	}
	*v = count(n)
	return nil
}

func (v *count) String() string { return strconv.Itoa(int(*v)) }
func (v *count) Type() string   { return "n" }

// Permission is the permission bits of a file, as octal digits.
func Permission(p *fs.FileMode) pflag.Value { return (*permission)(p) }

type permission fs.FileMode

func (v *permission) Set(s string) error {
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "0o"), 8, 32)
	if err != nil || n > uint64(fs.ModePerm) {
		return fmt.Errorf("%q is not a permission: use three octal digits, such as 700 or 770", s)
	}
	*v = permission(n)
	return nil
}

func (v *permission) String() string { return fmt.Sprintf("%04o", uint32(*v)) }
func (v *permission) Type() string   { return "mode" }

// OptionalCount is a whole number that may be left out, which is 0 and no text.
func OptionalCount(p *int) pflag.Value { return (*optionalCount)(p) }

type optionalCount int

func (v *optionalCount) Set(s string) error {
	if s == "" {
		*v = 0
		return nil
	}
	return (*count)(v).Set(s)
}

func (v *optionalCount) String() string {
	if *v == 0 {
		return ""
	}
	return (*count)(v).String()
}
func (v *optionalCount) Type() string { return "n" }

// Number is any number.
func Number(p *float64) pflag.Value { return (*number)(p) }

type number float64

func (v *number) Set(s string) error {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("%q is not a number", s)
	}
	*v = number(x)
	return nil
}

func (v *number) String() string { return strconv.FormatFloat(float64(*v), 'g', -1, 64) }
func (v *number) Type() string   { return "x" }

// Func is a value that the command reads itself. kind is what the help shows as what
// to write, text what the value holds before; set must take it.
func Func(kind, text string, set func(s string) error) pflag.Value { return &function{kind, text, set} }

type function struct {
	kind, text string
	set        func(string) error
}

func (v *function) Set(s string) error {
	err := v.set(s)
	if err == nil {
		v.text = s
	}
	return err
}

func (v *function) String() string { return v.text }
func (v *function) Type() string   { return v.kind }

// YesNo is a switch. Unlike pflag's it wants its value, so that "--name no" means
// no.
func YesNo(p *bool) pflag.Value { return (*yesNo)(p) }

type yesNo bool

func (v *yesNo) Set(s string) error {
	switch strings.ToLower(s) {
	case "yes", "true", "on", "1":
		*v = true
	case "no", "false", "off", "0":
		*v = false
	default:
		return fmt.Errorf("%q: use yes or no", s)
	}
	return nil
}

func (v *yesNo) String() string {
	if *v {
		return "yes"
	}
	return "no"
}

func (v *yesNo) Type() string { return "yes|no" }

// Size is a number of bytes; see [ParseSize].
func Size(p *int64) pflag.Value { return (*size)(p) }

type size int64

func (v *size) Set(s string) error {
	n, err := ParseSize(s)
	if err == nil {
		*v = size(n)
	}
	return err
}

func (v *size) String() string { return formatSize(int64(*v)) }
func (v *size) Type() string   { return "size" }

// sizeUnits are the units of sizes, as redis.conf has them (kb is 1024, k 1000),
// with the names of IEC.
var sizeUnits = map[string]int64{
	"": 1, "b": 1,
	"k": 1e3, "kb": 1 << 10, "kib": 1 << 10,
	"m": 1e6, "mb": 1 << 20, "mib": 1 << 20,
	"g": 1e9, "gb": 1 << 30, "gib": 1 << 30,
	"t": 1e12, "tb": 1 << 40, "tib": 1 << 40,
}

// ParseSize reads a size: a whole number and a unit. kb, mb, gb and tb, and KiB
// and so on, are powers of 1024; k, m, g and t powers of 1000, as in redis.conf.
// No unit means bytes. Case does not matter.
func ParseSize(s string) (int64, error) {
	digits := strings.TrimLeft(s, "0123456789")
	number, unit := s[:len(s)-len(digits)], strings.ToLower(strings.TrimSpace(digits))
	factor, ok := sizeUnits[unit]
	if number == "" || !ok {
		return 0, fmt.Errorf("%q is not a size: use a whole number and a unit, such as 64mb, or bytes", s)
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n > math.MaxInt64/factor {
		return 0, fmt.Errorf("%q is too large a size", s)
	}
	return n * factor, nil
}

func formatSize(n int64) string {
	for _, unit := range []string{"tb", "gb", "mb", "kb"} {
		if factor := sizeUnits[unit]; n != 0 && n%factor == 0 {
			return strconv.FormatInt(n/factor, 10) + unit
		}
	}
	return strconv.FormatInt(n, 10)
}

// Duration is a length of time; see [ParseDuration].
func Duration(p *time.Duration) pflag.Value { return (*duration)(p) }

type duration time.Duration

func (v *duration) Set(s string) error {
	d, err := ParseDuration(s)
	if err == nil {
		*v = duration(d)
	}
	return err
}

func (v *duration) String() string { return formatDuration(time.Duration(*v)) }
func (v *duration) Type() string   { return "time" }

// ParseDuration reads a length of time as [time.ParseDuration] does, or a whole
// number of seconds.
func ParseDuration(s string) (time.Duration, error) {
	if seconds, err := strconv.ParseInt(s, 10, 64); err == nil {
		const most = int64(math.MaxInt64 / time.Second)
		if seconds > most || seconds < -most {
			return 0, fmt.Errorf("%q is too long a time", s)
		}
		return time.Duration(seconds) * time.Second, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time: use a number and a unit, such as 500ms, 10s or 1h30m, or seconds", s)
	}
	return d, nil
}

// formatDuration drops the zeros that [time.Duration.String] leaves: 5m, not
// 5m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	if s == "0s" {
		return "0"
	}
	return s
}
