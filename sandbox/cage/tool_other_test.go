//go:build !linux

package cage

func beTool() (int, bool) { return 0, false }
