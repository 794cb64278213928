// Package path finds the values of a JSON document that a JSONPath names. Read [Query] first.
//
// The language is that of RedisJSON 2: members by name, elements by number from either end, slices, several of them,
// wildcards, descendants and filters. Legacy paths, which name one value, are written in it without `$`.
//
// A query is bounded: by the length of its text, by the depth of its filters, and by how many values it looks at.
package path
