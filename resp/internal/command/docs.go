package command

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/ringside-kv/ringside/resp/wire"
)

// docFiles has a file for each group of commands: a JSON object of a [Doc] by full name.
//
//go:embed docs/*.json
var docFiles embed.FS

// A Doc is what COMMAND DOCS returns about a command, beside its row. Nothing else reads
// it.
type Doc struct {
	Summary         string      `json:"summary"`
	Since           string      `json:"since"` // first Redis version that has it
	Complexity      string      `json:"complexity"`
	DeprecatedSince string      `json:"deprecated_since"`
	ReplacedBy      string      `json:"replaced_by"`
	History         [][2]string `json:"history"` // version, what changed
	Arguments       []Argument  `json:"arguments"`
}

// An Argument is one node of the syntax tree that COMMAND DOCS returns.
type Argument struct {
	Name    string `json:"name"`
	Kind    string `json:"type"` // "string", "integer", "pure-token", "oneof", …
	Display string `json:"display_text"`
	Token   string `json:"token"`
	Since   string `json:"since"`

	DeprecatedSince string `json:"deprecated_since"`

	KeySpec  int  `json:"key_spec"` // index+1 into the command's keys; 0 none
	Optional bool `json:"optional"`
	Multiple bool `json:"multiple"`
	// MultipleToken: the token is repeated with each value.
	MultipleToken bool       `json:"multiple_token"`
	Arguments     []Argument `json:"arguments"`
}

// LoadDocs reads the docs of all commands, by full name, at the first call. It panics if a file
// is broken, which the tests would have found.
var LoadDocs = sync.OnceValue(func() map[string]*Doc {
	docs := make(map[string]*Doc)
	files, err := docFiles.ReadDir("docs")
	for _, file := range files {
		var text []byte
		if text, err = docFiles.ReadFile("docs/" + file.Name()); err != nil {
			break
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err = d.Decode(&docs); err != nil {
			err = fmt.Errorf("%s: %w", file.Name(), err)
			break
		}
	}
	if err != nil {
		panic("docs of commands: " + err.Error())
	}
	return docs
})

// DocsOf appends the map that COMMAND DOCS returns.
func DocsOf(r *wire.Writer, commands []*Row) {
	r.Map(len(commands))
	for _, c := range commands {
		r.BulkString(c.Full)
		commandDocs(r, c)
	}
}

// groupOf returns the group that a command has for clients: Redis has one for all modules.
func groupOf(c *Row) string {
	if c.Flags&FlagModule != 0 {
		return "module"
	}
	return c.Group
}

func commandDocs(r *wire.Writer, c *Row) {
	doc := LoadDocs()[c.Full]
	if doc == nil {
		doc = new(Doc)
	}
	var docFlags []string
	if doc.DeprecatedSince != "" {
		docFlags = append(docFlags, "deprecated")
	}
	if c.Flags&FlagSystem != 0 {
		docFlags = append(docFlags, "syscmd")
	}
	r.Map(1 + countTrue(
		doc.Summary != "", doc.Since != "", doc.Complexity != "", docFlags != nil,
		doc.DeprecatedSince != "", doc.ReplacedBy != "", doc.History != nil, doc.Arguments != nil, c.Subs != nil,
	))
	textField(r, "summary", doc.Summary)
	textField(r, "since", doc.Since)
	textField(r, "group", groupOf(c))
	textField(r, "complexity", doc.Complexity)
	if docFlags != nil {
		r.BulkString("doc_flags")
		SimpleSet(r, docFlags)
	}
	textField(r, "deprecated_since", doc.DeprecatedSince)
	textField(r, "replaced_by", doc.ReplacedBy)
	if doc.History != nil {
		r.BulkString("history")
		r.Set(len(doc.History))
		for _, change := range doc.History {
			r.Array(2)
			r.BulkString(change[0])
			r.BulkString(change[1])
		}
	}
	argumentDocs(r, doc.Arguments)
	if c.Subs != nil {
		r.BulkString("subcommands")
		DocsOf(r, c.Subs)
	}
}

// argumentDocs appends the field "arguments", unless there are none.
func argumentDocs(r *wire.Writer, args []Argument) {
	if args == nil {
		return
	}
	r.BulkString("arguments")
	r.Array(len(args))
	for i := range args {
		a := &args[i]
		var flags []string
		if a.Optional {
			flags = append(flags, "optional")
		}
		if a.Multiple {
			flags = append(flags, "multiple")
		}
		if a.MultipleToken {
			flags = append(flags, "multiple_token")
		}
		display := a.Display
		if display == "" && a.Arguments == nil { // since Redis 7.2 it is always there
			display = a.Name
		}
		hasToken := a.Token != "" || a.Kind == "pure-token" // that of MIGRATE's empty key is empty
		r.Map(2 + countTrue(
			display != "", a.KeySpec != 0, hasToken, a.Since != "",
			a.DeprecatedSince != "", flags != nil, a.Arguments != nil,
		))
		textField(r, "name", a.Name)
		textField(r, "type", a.Kind)
		textField(r, "display_text", display)
		if a.KeySpec != 0 {
			r.BulkString("key_spec_index")
			r.Int(int64(a.KeySpec - 1))
		}
		if hasToken {
			r.BulkString("token")
			r.BulkString(a.Token)
		}
		textField(r, "since", a.Since)
		textField(r, "deprecated_since", a.DeprecatedSince)
		if flags != nil {
			r.BulkString("flags")
			SimpleSet(r, flags)
		}
		argumentDocs(r, a.Arguments)
	}
}

// textField appends a field of a map, unless it is empty.
func textField(r *wire.Writer, name, text string) {
	if text == "" {
		return
	}
	r.BulkString(name)
	r.BulkString(text)
}

// SimpleSet appends a set of simple strings.
func SimpleSet(r *wire.Writer, words []string) {
	r.Set(len(words))
	for _, word := range words {
		r.Simple(word)
	}
}

func countTrue(conditions ...bool) int {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}
