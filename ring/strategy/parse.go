package strategy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/ring/ketama"
)

// ErrSetting says that what stands after a strategy's name is no number of its kind.
var ErrSetting = errors.New("bad setting")

// Parse reads a strategy with its main setting, on top of what base says:
//
//	vnode         as base has it
//	vnode:128     128 points a node
//	ketama:40     40 points a server
//	buckets:0FFF  mask, in hexadecimals with 0x or without
//	bounded:0.25  a node may be a quarter above its share
//	multiprobe:5  5 probes
//	lrh:4         4 candidates
//
// Its error joins every fault of the text and of the configuration that it makes.
func Parse(spec string, base Config) (Config, error) {
	c := base
	name, setting, given := strings.Cut(spec, ":")
	c.Name = name
	var err error
	if given {
		if all := Settings(name); len(all) > 0 {
			err = c.set(all[0], setting)
		} else if slices.Contains(Names(), name) {
			err = fmt.Errorf("%w: %s has none", ErrSetting, name)
		}
	}
	if err := errors.Join(err, c.Validate()); err != nil {
		return Config{}, err
	}
	return c, nil
}

// Settings are the names of what can be set for a strategy, for [Config.With], the main one first.
func Settings(name string) []string {
	switch name {
	case Buckets:
		return []string{"mask"}
	case Ketama:
		return []string{"points", "ketama-rule"}
	case VNode:
		return []string{"vnodes"}
	case MultiProbe:
		return []string{"probes"}
	case LRH:
		return []string{"candidates"}
	case Bounded:
		return []string{"slack"}
	}
	return nil
}

// With names another strategy, or the same one, and reads its settings, each a name and a value.
// Settings that are not given stay as they are. Its error joins every fault.
func (c Config) With(name string, settings []string) (Config, error) {
	c.Name = strings.ToLower(name)
	if !slices.Contains(Names(), c.Name) {
		return Config{}, c.nameError()
	}
	var faults []error
	for len(settings) > 0 {
		setting := strings.ToLower(settings[0])
		switch {
		case !slices.Contains(Settings(c.Name), setting):
			faults = append(faults, c.settingError(settings[0]))
		case len(settings) == 1:
			faults = append(faults, fmt.Errorf("%w: %s has no value", ErrSetting, setting))
		default:
			faults = append(faults, c.set(setting, settings[1]))
		}
		settings = settings[min(2, len(settings)):]
	}
	if err := errors.Join(append(faults, c.Validate())...); err != nil {
		return Config{}, err
	}
	return c, nil
}

// Has reports whether a setting is other than zero.
func (c Config) Has(setting string) bool { return c.Setting(setting) != Config{}.Setting(setting) }

// Setting returns the value of a setting, as [Config.With] reads it.
func (c Config) Setting(setting string) string {
	switch setting {
	case "mask":
		return fmt.Sprintf("%04X", c.Mask)
	case "points":
		return strconv.Itoa(c.Points)
	case "vnodes":
		return strconv.Itoa(c.VNodes)
	case "ketama-rule":
		return string(c.KetamaRule)
	case "probes":
		return strconv.Itoa(c.Cells.Probes)
	case "candidates":
		return strconv.Itoa(c.Cells.Candidates)
	case "slack":
		return strconv.FormatFloat(c.Cells.Slack, 'g', -1, 64)
	}
	return ""
}

func (c *Config) set(setting, value string) error {
	switch setting {
	case "mask":
		return set(&c.Mask, value, buckets.ParseMask)
	case "points":
		return set(&c.Points, value, parseCount)
	case "vnodes":
		return set(&c.VNodes, value, parseCount)
	case "probes":
		return set(&c.Cells.Probes, value, parseCount)
	case "candidates":
		return set(&c.Cells.Candidates, value, parseCount)
	case "slack":
		return set(&c.Cells.Slack, value, parseShare)
	default:
		c.KetamaRule = ketama.Rule(strings.ToLower(value))
		return nil
	}
}

func (c *Config) settingError(setting string) error {
	if all := Settings(c.Name); len(all) > 0 {
		return fmt.Errorf("%w: %s has no setting %.40q, but %s", ErrSetting, c.Name, setting, strings.Join(all, " and "))
	}
	return fmt.Errorf("%w: %s has no setting %.40q, and no other", ErrSetting, c.Name, setting)
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

func parseShare(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x > 0) { // NaN is not
		return 0, fmt.Errorf("%w: %.40q is not a number above 0", ErrSetting, s)
	}
	return x, nil
}
