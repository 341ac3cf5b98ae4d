//go:build !unix

package main

import "os"

// winch never tells a thing where there is no such signal.
func winch() <-chan os.Signal { return nil }
