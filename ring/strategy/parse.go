package strategy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrSetting: what stands after a strategy's name is not a number of its kind.
var ErrSetting = errors.New("bad setting")

// Parse reads a strategy with its main setting, on top of what base says:
//
//	vnode         as base has it
//	vnode:128     128 points a node
//	ketama:40     40 points a server
//	buckets:0FFF  mask, in hexadecimals with 0x or without
//
// Its error joins every fault of the text and of the configuration as a whole.
func Parse(spec string, base Config) (Config, error) {
	c := base
	name, setting, given := strings.Cut(spec, ":")
	c.Name = name
	var err error
	if given {
		switch name {
		case Buckets:
			c.Mask, err = ParseMask(setting)
		case Ketama:
			c.Points, err = parseCount(setting)
		case VNode:
			c.VNodes, err = parseCount(setting)
		}
	}
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", name, err)
	}
	if err := c.Validate(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// ParseMask reads a hashmask: hexadecimals, with 0x or without.
func ParseMask(s string) (uint32, error) {
	digits := s
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		digits = s[2:]
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return 0, fmt.Errorf("%w: %.40q is no mask, which is up to eight hexadecimal digits, as in 00FF", ErrSetting, s)
	}
	return uint32(n), nil
}

func parseCount(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%w: %.40q is not a whole number", ErrSetting, s)
	}
	return int(n), nil
}
