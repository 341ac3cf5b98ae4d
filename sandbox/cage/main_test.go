package cage

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	BeChild()
	if code, ok := beTool(); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
