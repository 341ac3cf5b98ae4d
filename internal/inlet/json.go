package inlet

import (
	"bytes"
	"encoding/json"
)

// JSON writes a value of ours, without the escapes that only HTML needs and without a line break at its end. One that cannot be written
// is null; tests hold that ours can.
func JSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return []byte("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
