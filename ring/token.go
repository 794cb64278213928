package ring

// A Token is where a key lies on the circle of 0..2³²−1.
type Token uint32

// A TokenFunc maps a key to its token. It is pure, allocates nothing and may be
// called from any goroutine.
type TokenFunc func(key []byte) Token
