package hyperloglog

import "math"

// A histogram is how many registers hold which number: of the dense form up to 63, though no
// hash makes more than runBits+1.
type histogram [1 << registerLen]int

// estimate is the improved raw estimator of Otmar Ertl, "New cardinality estimation
// algorithms for HyperLogLog sketches" (arXiv:1702.01284), algorithm 6. Each product is
// rounded by itself, so that all machines give the same number.
func (h *histogram) estimate() uint64 {
	const m = float64(Registers)
	z := float64(m * tau((m-float64(h[runBits+1]))/m))
	for i := runBits; i >= 1; i-- {
		z = float64((z + float64(h[i])) * 0.5)
	}
	z += float64(m * sigma(float64(h[0])/m))
	const alpha = 0.721347520444481703680 // 1/(2 ln 2)
	return uint64(math.Round(alpha * m * m / z))
}

func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	for y, z := 1.0, x; ; y += y {
		x *= x
		before := z
		z += float64(x * y)
		if z == before {
			return z
		}
	}
}

func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	for y, z := 1.0, 1-x; ; {
		x = math.Sqrt(x)
		before := z
		y *= 0.5
		z -= float64(float64((1-x)*(1-x)) * y)
		if z == before {
			return z / 3
		}
	}
}
