package acl

import (
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/command"
)

// A Catalog is what rules need to know of the commands of a table. It never changes.
type Catalog struct {
	table      *command.Table
	categories []category
	every      bitmap
	// reach has, by ID, the commands that a rule about a command changes: itself and its subcommands.
	reach []bitmap
	// needs has, by ID and key specification, what a call does with the keys that this one finds.
	needs    [][]access
	channels []channelUse // by ID
}

type category struct {
	name    string
	members bitmap
	reach   bitmap // members and the subcommands of members
}

// access is what a key pattern permits, or what a command does with a key.
type access uint8

const (
	reads access = 1 << iota
	writes
	varies // the arguments tell
)

// channelUse is which arguments of a command are channels that need permission, and how.
type channelUse uint8

const (
	noChannels channelUse = iota
	firstIsChannel
	allAreChannels
	allArePatterns
)

var channelUses = map[string]channelUse{
	"publish": firstIsChannel, "spublish": firstIsChannel,
	"subscribe": allAreChannels, "ssubscribe": allAreChannels, "psubscribe": allArePatterns,
}

// NewCatalog makes the catalog of a table.
func NewCatalog(t *command.Table) *Catalog {
	n := len(t.All)
	c := &Catalog{
		table: t, every: newBitmap(n), reach: make([]bitmap, n), needs: make([][]access, n), channels: make([]channelUse, n),
	}
	for _, name := range command.ACLCategories {
		c.categories = append(c.categories, category{name: name, members: newBitmap(n), reach: newBitmap(n)})
	}
	for _, row := range t.All {
		c.every.add(row.ID)
		c.reach[row.ID] = newBitmap(n)
		c.reach[row.ID].add(row.ID)
		for _, sub := range row.Subs {
			c.reach[row.ID].add(sub.ID)
		}
		for i := range row.Keys {
			need := accessOf(row.Keys[i].Flags)
			if row.Keys[i].Vary != nil {
				need = varies
			}
			c.needs[row.ID] = append(c.needs[row.ID], need)
		}
		c.channels[row.ID] = channelUses[row.Full]
		for _, name := range row.ACL {
			k := c.category(name[1:])
			k.members.add(row.ID)
			k.reach.set(c.reach[row.ID], true)
		}
	}
	return c
}

// accessOf reads the flags of a key specification.
func accessOf(flags string) (a access) {
	for flag := range strings.FieldsSeq(flags) {
		switch flag {
		case "access":
			a |= reads
		case "insert", "update", "delete":
			a |= writes
		}
	}
	return a
}

// category finds a category by its name in any case; nil if there is none.
func (c *Catalog) category(name string) *category {
	for i := range c.categories {
		if strings.EqualFold(c.categories[i].name, name) {
			return &c.categories[i]
		}
	}
	return nil
}

// Categories returns the names of all categories in the order of ACL CAT.
func (c *Catalog) Categories() []string { return command.ACLCategories }

// Members returns the full names of the commands in a category; false if there is no such category.
func (c *Catalog) Members(name string) (names []string, ok bool) {
	k := c.category(name)
	if k == nil {
		return nil, false
	}
	for _, row := range c.table.All {
		if k.members.has(row.ID) {
			names = append(names, row.Full)
		}
	}
	return names, true
}
