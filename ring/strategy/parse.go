package strategy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/buckets"
)

// ErrSetting says that what stands after a strategy's name is no number of its kind.
var ErrSetting = errors.New("bad setting")

// Parse reads a strategy with its main setting, on top of what base says:
//
//	vnode         as base has it
//	vnode:128     128 points a node
//	ketama:40     40 points a server
//	buckets:0FFF  mask, in hexadecimals with 0x or without
//	maglev        strategies on cells have no setting
//
// Its error joins every fault of the text and of the configuration that it makes.
func Parse(spec string, base Config) (Config, error) {
	c := base
	name, setting, given := strings.Cut(spec, ":")
	c.Name = name
	var err error
	if given {
		switch name {
		case Buckets:
			err = set(&c.Mask, setting, buckets.ParseMask)
		case Ketama:
			err = set(&c.Points, setting, parseCount)
		case VNode:
			err = set(&c.VNodes, setting, parseCount)
		default:
			if slices.Contains(Names(), name) {
				err = fmt.Errorf("%w: %s has none", ErrSetting, name)
			}
		}
	}
	if err := errors.Join(err, c.Validate()); err != nil {
		return Config{}, err
	}
	return c, nil
}

func set[T any](to *T, text string, parse func(string) (T, error)) error {
	v, err := parse(text)
	if err == nil {
		*to = v
	}
	return err
}

func parseCount(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%w: %.40q is not a whole number above 0", ErrSetting, s)
	}
	return int(n), nil
}
