//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
)

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open folder to sync: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}
