package ketama

import "math"

// A Rule is whose arithmetic decides how many points a server has. Both give it its
// share of the weights of N × points, in groups of four and rounded down, but do not
// calculate alike: with 160 points and equal weights libketama loses a group at 61
// and 122 servers, twemproxy at 25, 47, 50 and more. A lost group moves keys between
// servers that neither joined nor left.
type Rule string

const (
	// Libketama is ketama_create_continuum of libketama,
	// https://github.com/RJ/ketama.
	Libketama Rule = "libketama"
	// Twemproxy is ketama_update of twemproxy 0.5,
	// https://github.com/twitter/twemproxy.
	Twemproxy Rule = "twemproxy"
)

// Rules are all rules, the default first.
func Rules() []Rule { return []Rule{Libketama, Twemproxy} }

// groups is how many groups of four points one of n servers has whose weight is
// this part of the total. Each conversion is a rounding that the original does;
// Go fuses no multiplication with an addition across one.
func (r Rule) groups(weight, total float64, points, n int) int {
	// Both originals have integers here and so never a number too small for
	// float32. Powers of two change no rounding.
	_, exp := math.Frexp(total)
	part := float32(math.Ldexp(weight, -exp)) / float32(math.Ldexp(total, -exp))
	if r == Twemproxy {
		scaled := float32(part*float32(points)) / 4
		scaled = float32(scaled * float32(n))
		return int(math.Floor(float64(float32(float64(scaled) + 1e-10))))
	}
	scaled := float64(part) * float64(points/4)
	return int(math.Floor(float64(float32(scaled * float64(float32(n))))))
}
