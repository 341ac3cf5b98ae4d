package cage

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	BeChild()
	beTool()
	os.Exit(m.Run())
}
