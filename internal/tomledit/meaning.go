package tomledit

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"time"
)

// lookup walks down decoded values.
func lookup(v any, path []string) (any, bool) {
	for _, name := range path {
		switch x := v.(type) {
		case map[string]any:
			kid, ok := x[name]
			if !ok {
				return nil, false
			}
			v = kid
		case []any:
			i, ok := index(name, len(x))
			if !ok {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// withValue returns m with the value at path replaced or added; false if something on the way is no table.
func withValue(m map[string]any, path []string, value any) (map[string]any, bool) {
	out, ok := rebuild(m, path, func(any, bool) (any, bool) { return value, true })
	if !ok {
		return nil, false
	}
	return out.(map[string]any), true
}

// withoutValue returns m without what is at path.
func withoutValue(m map[string]any, path []string) (map[string]any, bool) {
	if len(path) == 0 {
		return nil, false
	}
	name := path[len(path)-1]
	out, ok := rebuild(m, path[:len(path)-1], func(v any, found bool) (any, bool) {
		switch x := v.(type) {
		case map[string]any:
			c := maps.Clone(x)
			delete(c, name)
			return c, found
		case []any:
			i, ok := index(name, len(x))
			if !ok {
				return nil, false
			}
			return slices.Delete(slices.Clone(x), i, i+1), found
		}
		return nil, false
	})
	if !ok {
		return nil, false
	}
	return out.(map[string]any), true
}

// rebuild copies v along path and lets change make the value at its end.
func rebuild(v any, path []string, change func(v any, found bool) (any, bool)) (any, bool) {
	if len(path) == 0 {
		return change(v, v != nil)
	}
	switch x := v.(type) {
	case nil:
		return rebuild(map[string]any{}, path, change)
	case map[string]any:
		kid, ok := rebuild(x[path[0]], path[1:], change)
		if !ok {
			return nil, false
		}
		c := maps.Clone(x)
		c[path[0]] = kid
		return c, true
	case []any:
		i, ok := index(path[0], len(x))
		if !ok {
			return nil, false
		}
		kid, ok := rebuild(x[i], path[1:], change)
		if !ok {
			return nil, false
		}
		c := slices.Clone(x)
		c[i] = kid
		return c, true
	}
	return nil, false
}

// Equal compares what Decode returns: nan equals nan, times are equal with the same offset, no list equals an empty one.
func Equal(a, b any) bool { return equal(a, b) }

// equal compares decoded values: nan equals nan, times are equal with the same offset, no list equals an empty one.
func equal(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, equal)
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equal)
	case float64:
		y, ok := b.(float64)
		return ok && (math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y))
	case time.Time:
		y, ok := b.(time.Time)
		return ok && x.Format(time.RFC3339Nano) == y.Format(time.RFC3339Nano)
	}
	return reflect.DeepEqual(a, b)
}

func isEmpty(v any) bool {
	switch x := v.(type) {
	case map[string]any:
		return len(x) == 0
	case []any:
		return len(x) == 0
	}
	return false
}
