package verb

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// shape tells the form of the fields of an argument object without any of its values: the names in order, and for each its type and
// the length of text. It is what the ledger keeps.
//
//	{"task":"x","wait":true}  ->  task:string(1) wait:true
//
// Truth values are kept, since they carry consent and nothing private. Of a secret not even the length is.
func shape(fields map[string]json.RawMessage, v *Verb) string {
	parts := make([]string, 0, len(fields))
	for _, name := range sortedKeys(fields) {
		of := shapeOf(fields[name])
		if slices.ContainsFunc(v.Params, func(p Param) bool { return p.Name == name && p.Secret }) {
			of = "secret"
		}
		parts = append(parts, name+":"+of)
	}
	return strings.Join(parts, " ")
}

func shapeOf(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return "?"
	}
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("string(%d)", len(v))
	case bool:
		return fmt.Sprint(v)
	case float64:
		return "number"
	case []any:
		return fmt.Sprintf("list(%d)", len(v))
	case nil:
		return "null"
	}
	return "object"
}
