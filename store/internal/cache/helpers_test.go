package cache

import "github.com/ringside-kv/ringside/buckets"

var testToken = buckets.Token
