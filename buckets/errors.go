package buckets

import "errors"

// ErrMask says that a mask is no run of ones, or beyond what the hash allows.
var ErrMask = errors.New("bad mask")
