package main

import "fmt"

// What stands in a recipe's arguments for something else. redis-benchmark knows the
// first by this name, too.
const (
	anyNumber = "__rand_int__" // a number of the keyspace in twelve digits
	payload   = "<payload>"    // a value
)

// A recipe is how to make one of the commands on collections, messages and scripts:
// all clients work on one large value.
type recipe struct {
	command string
	label   [2]string // in the table: beside Ringside, and beside Redis
	args    []string
	// key is deleted before each measurement; empty: nothing is.
	key string
	// stock is what the key is given then: this command with elements behind it.
	stock   []string
	element func(i int, value string) []string
	// elements is how many; 0: more than the commands of the measurement take away.
	elements int
	// left answers how many elements are there. At least one must be left after the
	// measurement, or it was partly of commands that find nothing.
	left []string
	// audience is how many clients are subscribed to the channel that is args[1], and must
	// get all that is sent there.
	audience int
	// share of the requests of a plain command that this one gets.
	share    float64
	minRatio float64
}

// maxP99 is what the p99 of these commands is to be at most, over that of Redis.
const maxP99 = 4

// Names of what the clients work on, those of redis-benchmark where it has some.
const (
	listKey    = "mylist"
	setKey     = "myset"
	hashKey    = "myhash"
	rankedKey  = "myzset"
	recordKey  = "record"
	newsTopic  = "news"
	hashFields = 1000
)

// twoCalls is a script that writes and reads. It has no double quotes, which
// redis-benchmark would print unquoted in its table.
const twoCalls = "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])"

// recipes are in the order in which they are measured.
var recipes = []recipe{
	{command: "LPUSH", args: []string{"LPUSH", listKey, payload}, key: listKey, share: 0.5, minRatio: 0.7},
	{command: "RPUSH", args: []string{"RPUSH", listKey, payload}, key: listKey, share: 0.5, minRatio: 0.7},
	{command: "LPOP", args: []string{"LPOP", listKey}, key: listKey, stock: []string{"RPUSH", listKey}, element: item,
		left: []string{"LLEN", listKey}, share: 0.5, minRatio: 0.7},
	{command: "RPOP", args: []string{"RPOP", listKey}, key: listKey, stock: []string{"RPUSH", listKey}, element: item,
		left: []string{"LLEN", listKey}, share: 0.5, minRatio: 0.7},
	{command: "SADD", args: []string{"SADD", setKey, "element:" + anyNumber}, key: setKey, share: 0.5, minRatio: 0.7},
	{command: "SPOP", args: []string{"SPOP", setKey}, key: setKey, stock: []string{"SADD", setKey}, element: member,
		left: []string{"SCARD", setKey}, share: 0.5, minRatio: 0.7},
	{command: "HSET", args: []string{"HSET", hashKey, "element:" + anyNumber, payload}, key: hashKey, share: 0.5, minRatio: 0.7},
	{command: "ZADD", args: []string{"ZADD", rankedKey, anyNumber, "element:" + anyNumber}, key: rankedKey, share: 0.5, minRatio: 0.7},
	{command: "ZPOPMIN", args: []string{"ZPOPMIN", rankedKey}, key: rankedKey, stock: []string{"ZADD", rankedKey}, element: ranked,
		left: []string{"ZCARD", rankedKey}, share: 0.5, minRatio: 0.7},
	{command: "LRANGE_100", label: [2]string{"LRANGE", "of 100"}, args: []string{"LRANGE", listKey, "0", "99"},
		key: listKey, stock: []string{"RPUSH", listKey}, element: item, left: []string{"LLEN", listKey}, share: 0.1, minRatio: 0.6},
	{command: "HGETALL_1000", label: [2]string{"HGETALL", "of 1000"}, args: []string{"HGETALL", recordKey},
		key: recordKey, stock: []string{"HSET", recordKey}, element: field, elements: hashFields,
		left: []string{"HLEN", recordKey}, share: 0.02, minRatio: 0.5},
	{command: "EVAL", label: [2]string{"EVAL", "2 calls"}, args: []string{"EVAL", twoCalls, "1", keyPrefix + anyNumber, payload},
		share: 0.25, minRatio: 0.5},
	{command: "PUBLISH_50", label: [2]string{"PUBLISH", "to 50"}, args: []string{"PUBLISH", newsTopic, payload},
		audience: 50, share: 0.1, minRatio: 0.8},
}

func item(_ int, value string) []string { return []string{value} }

func member(i int, _ string) []string { return []string{fmt.Sprintf("element:%0*d", keyDigits, i)} }

func ranked(i int, value string) []string {
	return append([]string{fmt.Sprint(i)}, member(i, value)...)
}

func field(i int, value string) []string { return append(member(i, ""), value) }

// recipeFor returns nil for the plain commands.
func recipeFor(command string) *recipe {
	for i := range recipes {
		if recipes[i].command == command {
			return &recipes[i]
		}
	}
	return nil
}

// with returns the arguments with a value in its place.
func (r *recipe) with(value string) []string {
	args := make([]string, len(r.args))
	for i, a := range r.args {
		if a == payload {
			a = value
		}
		args[i] = a
	}
	return args
}
