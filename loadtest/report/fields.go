package report

import (
	"reflect"
	"strconv"
	"strings"
)

// A field is a text or a number within a struct. Its path names it in the JSON form, with dots
// between the parts.
type field struct {
	path  string
	index []int
}

// fields are all texts and numbers of a struct, those of structs within it included. Lists have none.
type fields []field

func fieldsOf[T any]() fields { return structFields(reflect.TypeFor[T]()) }

func structFields(t reflect.Type) (all fields) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch inner.Kind() {
		case reflect.Slice:
		case reflect.Struct:
			for _, part := range structFields(inner) {
				if !f.Anonymous {
					part.path = name + "." + part.path
				}
				all = append(all, field{part.path, append([]int{i}, part.index...)})
			}
		default:
			all = append(all, field{name, []int{i}})
		}
	}
	return all
}

// in is the field of a struct; it is not valid where a pointer on the way is nil.
func (f field) in(v reflect.Value) reflect.Value {
	at, err := v.FieldByIndexErr(f.index)
	if err != nil {
		return reflect.Value{}
	}
	return reflect.Indirect(at)
}

// numberAt reads the number at a path; known reports whether there is one.
func numberAt[T any](path string) func(*T) (x float64, known bool) {
	for _, f := range fieldsOf[T]() {
		if f.path != path {
			continue
		}
		return func(v *T) (float64, bool) {
			at := f.in(reflect.ValueOf(v).Elem())
			switch {
			case !at.IsValid():
				return 0, false
			case at.CanInt():
				return float64(at.Int()), true
			}
			return at.Float(), true
		}
	}
	panic("report: no field " + path)
}

// names are the paths of the fields, behind a prefix.
func (all fields) names(prefix string) []string {
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = prefix + f.path
	}
	return names
}

// texts are the values of the fields of what v points to. What is unknown is empty.
func (all fields) texts(v any) []string {
	texts := make([]string, len(all))
	for i, f := range all {
		switch at := f.in(reflect.ValueOf(v).Elem()); {
		case !at.IsValid():
		case at.CanFloat():
			texts[i] = floatText(at.Float())
		case at.CanInt():
			texts[i] = strconv.FormatInt(at.Int(), 10)
		default:
			texts[i] = at.String()
		}
	}
	return texts
}

func floatText(x float64) string {
	if isNone(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
