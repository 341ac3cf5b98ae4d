//go:build !headless

// Command bare opens a window with one line of text, and says "drawn" once that is on the screen: the peer by which
// bench/window measures how long Termic takes to its first picture. It has Termic's options of the toolkit, and nothing of
// Termic. It ends when its standard input does.
package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/runtime"
)

//go:embed page
var files embed.FS

// Bridge is what the page can call.
type Bridge struct{}

// Painted says that the page was drawn.
func (Bridge) Painted() { fmt.Println("drawn") }

func main() {
	page, err := fs.Sub(files, "page")
	if err == nil {
		err = wails.Run(&options.App{
			Title: "bare", Width: 1280, Height: 800,
			AssetServer: &assetserver.Options{Assets: page},
			Bind:        []any{&Bridge{}},
			Linux:       &linux.Options{ProgramName: "bare", WebviewGpuPolicy: linux.WebviewGpuPolicyNever},
			OnStartup: func(ctx context.Context) {
				go func() { // ends with the program
					_, _ = io.Copy(io.Discard, os.Stdin) // its end is all that is waited for
					runtime.Quit(ctx)
				}()
			},
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}
