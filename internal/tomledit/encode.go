package tomledit

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// encode writes a value in one line of TOML and returns what a reader makes of it.
func encode(v any) (text string, plain any, err error) {
	var b strings.Builder
	if err := write(&b, reflect.ValueOf(v), 0); err != nil {
		return "", nil, err
	}
	m := map[string]any{}
	if err := toml.Unmarshal([]byte("v = "+b.String()), &m); err != nil {
		return "", nil, fmt.Errorf("the value cannot be written as TOML: %w", err)
	}
	return b.String(), m["v"], nil
}

func write(b *strings.Builder, v reflect.Value, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("the value is nested too deep")
	}
	if !v.IsValid() {
		return fmt.Errorf("TOML has no null")
	}
	switch x := v.Interface().(type) {
	case time.Time:
		b.WriteString(x.Format(time.RFC3339Nano))
		return nil
	case toml.LocalDate, toml.LocalTime, toml.LocalDateTime:
		fmt.Fprint(b, x)
		return nil
	}
	switch v.Kind() {
	case reflect.Bool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		b.WriteString(strconv.FormatUint(v.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		b.WriteString(encodeFloat(v.Float()))
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return fmt.Errorf("the text is not UTF-8")
		}
		b.WriteString(encodeString(v.String()))
	case reflect.Slice, reflect.Array:
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteString(", ")
			}
			if err := write(b, v.Index(i), depth+1); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case reflect.Map:
		return writeMap(b, v, depth)
	case reflect.Interface, reflect.Pointer:
		return write(b, v.Elem(), depth+1)
	default:
		return fmt.Errorf("a value of type %s cannot be written as TOML", v.Type())
	}
	return nil
}

func writeMap(b *strings.Builder, v reflect.Value, depth int) error {
	if v.Type().Key().Kind() != reflect.String {
		return fmt.Errorf("a value of type %s cannot be written as TOML", v.Type())
	}
	keys := map[string]reflect.Value{}
	for _, k := range v.MapKeys() {
		keys[k.String()] = v.MapIndex(k)
	}
	if len(keys) == 0 {
		b.WriteString("{}")
		return nil
	}
	b.WriteString("{ ")
	for i, k := range slices.Sorted(maps.Keys(keys)) {
		if !utf8.ValidString(k) {
			return fmt.Errorf("a key is not UTF-8")
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(encodeKey(k) + " = ")
		if err := write(b, keys[k], depth+1); err != nil {
			return err
		}
	}
	b.WriteString(" }")
	return nil
}

func encodeFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// encodeKey writes a key bare where it can be.
func encodeKey(name string) string {
	for i := range len(name) {
		if !isBare(name[i]) {
			return encodeString(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

// encodeString writes a string in double quotes.
func encodeString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// restyle keeps the single quotes of the value that is replaced, where the new one is a text that they can hold.
func restyle(old []byte, text string) string {
	if !bytes.HasPrefix(old, []byte("'")) || bytes.HasPrefix(old, []byte("'''")) || !strings.HasPrefix(text, `"`) {
		return text
	}
	m := map[string]any{}
	if toml.Unmarshal([]byte("v = "+text), &m) != nil {
		return text
	}
	s, ok := m["v"].(string)
	if !ok || strings.ContainsFunc(s, func(r rune) bool { return r == '\'' || r < 0x20 || r >= 0x7f && r < 0xa0 }) {
		return text
	}
	return "'" + s + "'"
}
