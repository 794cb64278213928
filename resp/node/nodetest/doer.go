package nodetest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Doer sends a command to one server and returns its reply. A missing value is "", and the
// elements of a list or the fields and values of a hash are separated by commas. An error reply
// is an error that begins with Redis' code; a command that was certainly not sent is an error
// that wraps [ErrUnsent].
type Doer func(ctx context.Context, args ...string) (string, error)

// GoRedis is a Doer of go-redis: of its Client, for one node, or its ClusterClient.
func GoRedis(client interface {
	Do(ctx context.Context, args ...any) *redis.Cmd
}) Doer {
	return func(ctx context.Context, args ...string) (string, error) {
		words := make([]any, len(args))
		for i, a := range args {
			words[i] = a
		}
		reply, err := client.Do(ctx, words...).Result()
		if errors.Is(err, redis.Nil) {
			return "", nil
		}
		return Flat(reply), err
	}
}

// Flat is a reply, as libraries return it, as one string.
func Flat(reply any) string {
	switch v := reply.(type) {
	case nil:
		return ""
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = Flat(e)
		}
		return strings.Join(parts, ",")
	case map[any]any:
		return flatMap(v)
	case map[string]any:
		return flatMap(v)
	}
	return fmt.Sprint(reply)
}

func flatMap[K comparable](m map[K]any) string {
	parts := make([]string, 0, 2*len(m))
	for field, value := range m {
		parts = append(parts, Flat(field), Flat(value))
	}
	return strings.Join(parts, ",")
}
